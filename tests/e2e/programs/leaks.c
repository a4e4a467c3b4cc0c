/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A workload that leaves known blocks of memory: 1,000 that it never frees, by these functions, and
 * many that it frees. `leaks N` allocates and frees N more blocks and prints the CPU time that it
 * took, in ns.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define noinline __attribute__((noinline))

static void *volatile last;
static void *passed[100];

/* 400 blocks of 1 to 400 bytes. */
static noinline void leave_small(void)
{
	for (size_t bytes = 1; bytes <= 400; bytes++)
		last = malloc(bytes);
}

/* 300 blocks of 3 * 50 bytes. */
static noinline void leave_zeroed(void)
{
	for (int i = 0; i < 300; i++)
		last = calloc(3, 50);
}

/* 98 blocks of 700 bytes, each 10 at first; 2 blocks of 1 MiB, as large as mappings are. */
static noinline void leave_grown(void)
{
	for (int i = 0; i < 98; i++)
		last = realloc(malloc(10), 700);
	for (int i = 0; i < 2; i++)
		last = realloc(malloc(500000), 1 << 20);
}

/* 60 blocks of 96 bytes by each of two functions. */
static noinline void leave_aligned(void)
{
	void *block;

	for (int i = 0; i < 60; i++) {
		if (!posix_memalign(&block, 32, 96))
			last = block;
		last = aligned_alloc(32, 96);
	}
}

/* 5 mappings of 8192 bytes, and 3 that end. */
static noinline void leave_mapped(void)
{
	for (int i = 0; i < 8; i++) {
		last = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (i >= 5)
			munmap(last, 8192);
	}
}

static noinline void *leave_in_thread(void *arg)
{
	for (int i = 0; i < 25; i++)
		last = malloc(64);
	return arg;
}

static noinline void *pass_to_main(void *arg)
{
	for (int i = 0; i < 100; i++)
		passed[i] = malloc(80);
	return arg;
}

static noinline void run_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
		exit(1);
}

static noinline void free_all(long blocks)
{
	for (long i = 0; i < blocks; i++) {
		last = malloc(100);
		free(last);
	}
}

/* Requests that fail begin nothing. */
static noinline void ask_too_much(void)
{
	volatile size_t all = (size_t)-1 / 4;

	last = malloc(all);
	last = mmap(NULL, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	long long begin;

	leave_small();
	leave_zeroed();
	leave_grown();
	leave_aligned();
	leave_mapped();
	for (int i = 0; i < 3; i++)
		run_thread(leave_in_thread);
	run_thread(pass_to_main);
	for (int i = 0; i < 100; i++)
		free(passed[i]);
	ask_too_much();
	free_all(2000);
	if (argc < 2)
		return 0;
	begin = now_ns();
	free_all(atol(argv[1]));
	printf("%lld\n", now_ns() - begin);
	return 0;
}
