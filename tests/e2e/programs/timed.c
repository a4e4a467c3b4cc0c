/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads whose times can be compared with /proc/PID/task/TID/schedstat.
 *
 * usage: timed mutex|spin THREADS GO DONE  (GO, DONE: named pipes)
 *    or: timed exec PROGRAM
 *    or: timed deadlock
 *
 * Waits until somebody opens GO, makes threads, waits until all of them have worked and sleep for
 * good, opens DONE, and sleeps. `mutex`: all of them want one mutex; `spin`: the whole process runs
 * on one CPU, and no thread begins to work before all of them are there.
 * `exec`: a second thread calls execve. `deadlock`: two threads, each of which has what the other
 * one wants.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1000
#define ROUNDS 50
#define LOCKED_NS 20000
#define SPIN_NS 300000000LL

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both, all;
static atomic_int tids[THREADS_MAX];

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void work_for(long long ns)
{
	long long end = cpu_ns() + ns;

	while (cpu_ns() < end)
		;
}

static void sleep_for_good(void)
{
	for (;;)
		pause();
}

static void *want_mutex(void *arg)
{
	for (int round = 0; round < ROUNDS; round++) {
		pthread_mutex_lock(&mutex);
		work_for(LOCKED_NS);
		pthread_mutex_unlock(&mutex);
	}
	*(atomic_int *)arg = (int)syscall(SYS_gettid);
	sleep_for_good();
	return NULL;
}

static void *spin(void *arg)
{
	pthread_barrier_wait(&all);
	work_for(SPIN_NS);
	*(atomic_int *)arg = (int)syscall(SYS_gettid);
	sleep_for_good();
	return NULL;
}

static void stay_on_one_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static bool is_asleep(int tid)
{
	char path[64], text[256], *state;
	int fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = tid ? open(path, O_RDONLY) : -1;
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static void run_threads(void *(*work)(void *arg), int count, const char *go, const char *done)
{
	pthread_t thread;

	close(open(go, O_RDONLY));
	for (int i = 0; i < count; i++)
		pthread_create(&thread, NULL, work, &tids[i]);
	for (int i = 0; i < count; i++)
		while (!is_asleep(tids[i]))
			usleep(1000);
	close(open(done, O_WRONLY));
	sleep_for_good();
}

static void *become(void *program)
{
	execl(program, program, "0", NULL);
	_exit(1);
}

__attribute__((noinline)) static void *first_then_second(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&second);
	return NULL;
}

__attribute__((noinline)) static void *second_then_first(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&second);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&first);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t one, other;

	if (count == 5 && !strcmp(arguments[1], "mutex"))
		run_threads(want_mutex, atoi(arguments[2]), arguments[3], arguments[4]);
	if (count == 5 && !strcmp(arguments[1], "spin")) {
		stay_on_one_cpu();
		pthread_barrier_init(&all, NULL, atoi(arguments[2]));
		run_threads(spin, atoi(arguments[2]), arguments[3], arguments[4]);
	}
	if (count == 3 && !strcmp(arguments[1], "exec"))
		pthread_create(&one, NULL, become, arguments[2]);
	if (count == 2 && !strcmp(arguments[1], "deadlock")) {
		pthread_barrier_init(&both, NULL, 2);
		pthread_create(&one, NULL, first_then_second, NULL);
		pthread_create(&other, NULL, second_then_first, NULL);
	}
	if (count == 3 || count == 2)
		pthread_join(one, NULL);
	return 2;
}
