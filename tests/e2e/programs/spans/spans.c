// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs functions that work for a span: in span_N() a thread publishes its own trace and span N; in
 * nothing_N() a thread publishes no record, or an invalid record with the ids of span N. A thread
 * publishes the ids before it enters the function, and removes them after it has left the function.
 *
 * usage: spans SECONDS [LIBRARY]   (of CPU time; the variable is in the program, or in the library)
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "spans_published.h"

#define THREADS 2
#define TURNS 20000

static void (*set)(struct published *record);
static double seconds;

static volatile unsigned int sink;

#define SPAN(name)                                                                                 \
	__attribute__((noinline, noclone)) static void name(void)                                  \
	{                                                                                          \
		for (unsigned int i = 0; i < TURNS; i++)                                           \
			sink += i;                                                                 \
		getppid();                                                                         \
		usleep(100);                                                                       \
	}

SPAN(span_1)
SPAN(span_2)
SPAN(span_3)
SPAN(nothing_4)
SPAN(nothing_5)

static void (*const bodies[])(void) = {span_1, span_2, span_3, nothing_4, nothing_5};

static double cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Fills in a record while it is invalid. */
static void fill(struct published *record, uint8_t thread, uint8_t span)
{
	*(volatile uint8_t *)&record->valid = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memset(record->trace, 0x70 + thread, sizeof(record->trace));
	memset(record->span, 0, sizeof(record->span));
	record->span[7] = span;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint8_t *)&record->valid = 1;
	atomic_signal_fence(memory_order_seq_cst);
}

static void *work(void *arg)
{
	uint8_t thread = (uint8_t)(long)arg;
	struct published records[2] = {};

	for (unsigned int turn = 0; cpu_time() < seconds; turn++) {
		struct published *record = &records[turn / 2 % 2];
		uint8_t span = turn % 5 + 1;

		if (turn % 2)
			set(NULL);
		fill(record, thread, span);
		if (span == 4)
			*(volatile uint8_t *)&record->valid = 2;
		set(span == 5 ? NULL : record);
		bodies[span - 1]();
		if (span % 2)
			*(volatile uint8_t *)&record->valid = 0;
		else
			set(NULL);
		atomic_signal_fence(memory_order_seq_cst);
	}
	set(NULL);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	void *library = NULL;

	if (count < 2)
		return 2;
	seconds = atof(arguments[1]);
	if (count > 2)
		library = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
	if (count > 2 && !library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#ifdef IN_PROGRAM
	set = publish;
#endif
	if (library)
		set = (void (*)(struct published *))dlsym(library, "publish");
	if (!set)
		return 2;
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
