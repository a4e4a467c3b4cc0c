/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tasks MS WHAT
 *
 *   thread     thread -> outer -> leaf, begun by pthread_create()
 *   clone      child -> outer -> leaf, begun by clone() on a stack of its own
 *   fork       main -> serve -> outer -> leaf, in children of a server that never calls exec
 *   vfork      main -> spawn -> outer -> leaf, in a child that has its parent's memory
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

APART static void outer(void)
{
	leaf();
	AFTER_CALL();
}

static void *thread(void *argv)
{
	while (is_time_left(argv))
		outer();
	return NULL;
}

static int child(void *argv)
{
	while (is_time_left(argv))
		outer();
	_exit(0);
}

APART static void serve(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 50; i++)
			outer();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

APART static void spawn(void)
{
	pid_t pid = vfork();

	if (!pid) {
		for (int i = 0; i < 50; i++)
			outer();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "thread";
	size_t bytes = 1 << 16;
	pthread_t id;

	if (!strcmp(what, "thread"))
		return pthread_create(&id, NULL, thread, argv) || pthread_join(id, NULL);
	if (!strcmp(what, "clone"))
		return waitpid(clone(child, (char *)malloc(bytes) + bytes, CLONE_VM | SIGCHLD,
				     argv),
			       NULL, 0) < 0;
	while (is_time_left(argv)) {
		if (!strcmp(what, "fork"))
			serve();
		else
			spawn();
	}
	return 0;
}
