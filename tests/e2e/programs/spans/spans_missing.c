// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Works for spans whose record is not in the thread's memory at the event: the record lies in a
 * page of a file in memory, and the thread drops the page from its own memory before each system
 * call. The kernel maps the page again when somebody waits for it.
 *
 *   spans_missing TURNS       the page can be mapped again
 *   spans_missing TURNS none  it cannot: the thread may not read the page
 *
 * The record has an attribute, too. In each turn getppid() is called in span_1(), and nanosleep()
 * in span_2() and span_3(): for a moment, and for longer than the recorder waits between two
 * visits.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "spans_published.h"

static long page_bytes;
static int is_readable;

__attribute__((noinline)) static void span_1(void)
{
	getppid();
}

__attribute__((noinline)) static void span_2(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

__attribute__((noinline)) static void span_3(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
}

static void (*const bodies[])(void) = {span_1, span_2, span_3};

static void work_for(struct published *record, uint8_t span)
{
	memset(record->trace, 0x70, sizeof(record->trace));
	memset(record->span, 0, sizeof(record->span));
	record->span[7] = span;
	memcpy(record + 1, "\0\1x", 3); /* an attribute */
	record->attribute_bytes = 3;
	record->valid = 1;
	publish(record);
	if (madvise(record, page_bytes, MADV_DONTNEED) ||
	    (!is_readable && mprotect(record, page_bytes, PROT_NONE)))
		abort();
	bodies[span - 1]();
	publish(NULL);
	if (!is_readable && mprotect(record, page_bytes, PROT_READ | PROT_WRITE))
		abort();
}

int main(int count, char **arguments)
{
	struct published *record;
	int file = memfd_create("record", 0), turns;

	if (count < 2)
		return 2;
	turns = atoi(arguments[1]);
	is_readable = count == 2;
	page_bytes = sysconf(_SC_PAGESIZE);
	if (file < 0 || ftruncate(file, page_bytes))
		return 1;
	record = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (record == MAP_FAILED)
		return 1;
	for (int turn = 0; turn < turns; turn++)
		for (uint8_t span = 1; span <= 3; span++)
			work_for(record, span);
	return 0;
}
