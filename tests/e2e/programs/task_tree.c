/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * task_tree CALLS: a process, its threads, their children and the threads of these, each of which
 * calls counted() CALLS times; prints how many tasks there were. It waits for a line on standard
 * input first, so that a recorder can attach to it. "old" threads exist before that line.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define TASKS (1 + THREADS + THREADS * (1 + THREADS))

static long calls;
static pthread_barrier_t go;

static __attribute__((noinline)) void counted(void)
{
	__asm__ volatile("" ::: "memory");
}

static void work(const char *name)
{
	prctl(PR_SET_NAME, name);
	for (long i = 0; i < calls; i++)
		counted();
}

static void *grandchild_thread(void *arg)
{
	(void)arg;
	work("tree-leaf");
	return NULL;
}

static void start(pthread_t *threads, void *(*run)(void *arg))
{
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			exit(1);
}

static void join(pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void child(void)
{
	pthread_t threads[THREADS];

	start(threads, grandchild_thread);
	work("tree-child");
	join(threads);
	exit(0);
}

static void *old_thread(void *arg)
{
	pid_t pid;

	(void)arg;
	pthread_barrier_wait(&go);
	pid = fork();
	if (!pid)
		child();
	work("tree-thread");
	waitpid(pid, NULL, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 2)
		return 2;
	calls = atol(argv[1]);
	pthread_barrier_init(&go, NULL, THREADS + 1);
	start(threads, old_thread);
	if (getchar() == EOF)
		return 1;
	pthread_barrier_wait(&go);
	work("tree-root");
	join(threads);
	printf("%d\n", TASKS);
	return 0;
}
