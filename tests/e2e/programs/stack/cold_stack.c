/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cold_stack warm|cold|swapped: three system calls below outer(), middle() and inner(), each with
 * all pages in memory, or with the program's file paged out, or with the frames of the three
 * functions swapped out. The program is linked statically, so no other process maps the file with
 * its unwind tables.
 *
 * Exit: 0, 1 not possible, 3 the kernel did not page out what it was asked to.
 */
#include <link.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../own_syscall.h"

#define APART __attribute__((noinline, noclone))
#define AFTER_CALL()                                                                               \
	__asm__ volatile("" ::                                                                     \
				 : "memory") /* the call is not the function's last act            \
					      */
#define PAGES_MAX 4096
#define CALLS 3
#define FRAME_BYTES (16 << 10) /* each caller's frame has pages of its own */
#define TRIES 100	       /* the kernel skips a page that is in use at this moment */

struct range {
	uintptr_t start;
	uintptr_t end;
};

static struct range segments[8]; /* read-only segments: text and tables */
static size_t segment_count;
static struct range tables; /* from .eh_frame_hdr to the end of its segment */
static struct range callers;
static unsigned char resident[PAGES_MAX];
static uintptr_t page;

static struct range pages_of(uintptr_t start, uintptr_t end)
{
	return (struct range){start & ~(page - 1), (end + page - 1) & ~(page - 1)};
}

static int find_segments(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;
		struct range range = pages_of(start, start + segment->p_memsz);

		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
			segments[segment_count++] = range;
		if (segment->p_type == PT_GNU_EH_FRAME)
			tables.start = range.start;
	}
	return 1; /* the first object is the program */
}

static void find_tables(void)
{
	dl_iterate_phdr(find_segments, NULL);
	for (size_t i = 0; i < segment_count; i++)
		if (tables.start >= segments[i].start && tables.start < segments[i].end)
			tables.end = segments[i].end;
	if (!tables.end)
		exit(1);
}

static void advise(struct range range, int advice)
{
	if (madvise((void *)range.start, range.end - range.start, advice))
		exit(1);
}

static bool is_out(struct range range)
{
	size_t count = (range.end - range.start) / page, found = 0;

	if (count > PAGES_MAX || mincore((void *)range.start, range.end - range.start, resident))
		exit(1);
	for (size_t i = 0; i < count; i++)
		found += resident[i] & 1;
	return !found;
}

static void page_out(struct range range)
{
	for (int i = 0; i < TRIES; i++) {
		advise(range, MADV_PAGEOUT);
		if (is_out(range))
			return;
	}
	exit(3);
}

static void all_in(void)
{
	for (size_t i = 0; i < segment_count; i++)
		advise(segments[i], MADV_POPULATE_READ);
}

/* Pages the program's mapped file out. Pages of text come back when they run; pages of the tables
 * stay out. */
static void file_out(void)
{
	all_in();
	for (size_t i = 0; i < segment_count; i++) {
		advise(segments[i], MADV_RANDOM);
		advise(segments[i], MADV_PAGEOUT);
	}
	page_out(tables);
}

static void callers_out(void)
{
	all_in();
	page_out(callers);
}

static APART void innermost(void (*prepare)(void))
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	callers.start = pages_of(here, here + 2 * page).end;
	for (int i = 0; i < CALLS; i++) {
		prepare();
		own_syscall(SYS_getppid, 0);
	}
	AFTER_CALL();
}

static APART void inner(void (*prepare)(void))
{
	volatile char frame[FRAME_BYTES];

	frame[FRAME_BYTES / 2] = 0;
	(void)frame[FRAME_BYTES / 2];
	innermost(prepare);
	AFTER_CALL();
}

static APART void middle(void (*prepare)(void))
{
	volatile char frame[FRAME_BYTES];

	frame[FRAME_BYTES / 2] = 0;
	(void)frame[FRAME_BYTES / 2];
	inner(prepare);
	AFTER_CALL();
}

static APART void outer(void (*prepare)(void))
{
	middle(prepare);
	AFTER_CALL();
}

/* Stays on one CPU: pages that were just read wait on a list of their CPU, where other CPUs cannot
 * reclaim them. */
static void stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	stay_on_this_cpu();
	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	callers.end = pages_of((uintptr_t)__builtin_frame_address(0), 0).start;
	find_tables();
	if (!strcmp(argv[1], "warm"))
		outer(all_in);
	else
		outer(strcmp(argv[1], "swapped") ? file_out : callers_out);
	return 0;
}
