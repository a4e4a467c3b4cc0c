/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits with known wakers. Threads have names; each waits in a function of its own.
 *
 * usage: waits lock MS     `waiter` wants a mutex that `owner` holds for so long
 *    or: waits chain MS    `first` waits for `second`, that for `third`, that for `fourth`, which
 * sleeps or: waits timer MS    the main thread sleeps or: waits deadlock    `one` and `two` have
 * what the other one wants; the process goes on for good
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static sem_t locked, done[4];
static long ms;

static APART void sleep_ms(void)
{
	const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

static APART void hold_lock(void)
{
	sleep_ms();
	pthread_mutex_unlock(&mutex);
}

static void *own(void *arg)
{
	pthread_mutex_lock(&mutex);
	sem_post(&locked);
	hold_lock();
	return arg;
}

static APART void want_lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *wait_for_lock(void *arg)
{
	want_lock();
	return arg;
}

static APART void first_waits(void)
{
	sem_wait(&done[1]);
}

static APART void second_waits(void)
{
	sem_wait(&done[2]);
	sem_post(&done[1]);
}

static APART void third_waits(void)
{
	sem_wait(&done[3]);
	sem_post(&done[2]);
}

static APART void fourth_sleeps(void)
{
	sleep_ms();
	sem_post(&done[3]);
}

static void *link_of_chain(void *arg)
{
	static void (*const links[])(void) = {first_waits, second_waits, third_waits,
					      fourth_sleeps};

	links[(long)arg]();
	return NULL;
}

static APART void one_then_two(void)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&other_mutex);
}

static APART void two_then_one(void)
{
	pthread_mutex_lock(&other_mutex);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&mutex);
}

static void *lock_both(void *arg)
{
	if (arg)
		two_then_one();
	else
		one_then_two();
	return NULL;
}

static pthread_t start(const char *name, void *(*run)(void *arg), long arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, (void *)arg);
	pthread_setname_np(thread, name);
	return thread;
}

static void run_lock(void)
{
	pthread_t owner = start("owner", own, 0), waiter;

	sem_wait(&locked);
	waiter = start("waiter", wait_for_lock, 0);
	pthread_join(owner, NULL);
	pthread_join(waiter, NULL);
}

static void run_chain(void)
{
	static const char *const names[] = {"first", "second", "third", "fourth"};
	pthread_t threads[4];

	for (long i = 0; i < 4; i++)
		threads[i] = start(names[i], link_of_chain, i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
	ms = count == 3 ? atol(arguments[2]) : 0;
	sem_init(&locked, 0, 0);
	for (int i = 0; i < 4; i++)
		sem_init(&done[i], 0, 0);
	if (count == 3 && !strcmp(arguments[1], "lock"))
		run_lock();
	else if (count == 3 && !strcmp(arguments[1], "chain"))
		run_chain();
	else if (count == 3 && !strcmp(arguments[1], "timer"))
		sleep_ms();
	else if (count == 2 && !strcmp(arguments[1], "deadlock")) {
		pthread_barrier_init(&both, NULL, 2);
		start("one", lock_both, 0);
		pthread_join(start("two", lock_both, 1), NULL);
	} else
		return 2;
	return 0;
}
