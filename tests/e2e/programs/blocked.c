/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blocked N MS FILE: N times the thread sleeps MS milliseconds in rest(), waits in await() for
 * another thread, which sleeps MS before it wakes the thread in let_go(), and spins for MS. FILE
 * gets the ns that rest(), await() and spin() took, measured by their caller.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

static int ends[2], asked[2];
static long count, ms;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void pause_ms(void)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000L};

	nanosleep(&pause, NULL);
	AFTER_CALL();
}

static APART void rest(void)
{
	pause_ms();
	AFTER_CALL();
}

static APART void await(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		exit(1);
	AFTER_CALL();
}

static void ask_and_await(void)
{
	if (write(asked[1], "", 1) != 1)
		exit(1);
	await();
	AFTER_CALL();
}

static APART void let_go(void)
{
	if (write(ends[1], "", 1) != 1)
		exit(1);
	AFTER_CALL();
}

static APART void spin(void)
{
	for (long end = now() + ms * 1000000L; now() < end;)
		;
}

static void *other(void *arg)
{
	char byte;

	for (long i = 0; i < count; i++) {
		if (read(asked[0], &byte, 1) != 1)
			exit(1);
		pause_ms();
		let_go();
	}
	return arg;
}

static long measured(void (*call)(void))
{
	long begin = now();

	for (long i = 0; i < count; i++)
		call();
	return now() - begin;
}

int main(int argc, char **argv)
{
	long rested, awaited, spun;
	pthread_t thread;
	FILE *file;

	if (argc != 4 || pipe(ends) || pipe(asked))
		return 2;
	count = atol(argv[1]);
	ms = atol(argv[2]);
	rested = measured(rest);
	spun = measured(spin);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	awaited = measured(ask_and_await);
	pthread_join(thread, NULL);
	file = fopen(argv[3], "we");
	if (!file)
		return 1;
	fprintf(file, "%ld %ld %ld\n", rested, awaited, spun);
	return fclose(file) ? 1 : 0;
}
