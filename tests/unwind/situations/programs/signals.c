/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals MS WHAT
 *
 *   raised     main -> interrupted -> (libc) -> handler -> leaf
 *   stack      the same on the stack of sigaltstack()
 *   nested     ... -> handler -> (libc) -> inner_handler -> leaf
 *   timer      main -> interrupted -> handler -> leaf: the signal comes between any two
 * instructions of interrupted()
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "work.h"

static int is_nested;

static void inner_handler(int number)
{
	(void)number;
	leaf();
	AFTER_CALL();
}

static void handler(int number)
{
	(void)number;
	if (is_nested)
		raise(SIGUSR2);
	else
		leaf();
	AFTER_CALL();
}

APART static void interrupted(int has_timer)
{
	if (!has_timer)
		raise(SIGUSR1);
	for (int i = 0; i < (has_timer ? 200000 : 100); i++)
		sink += (unsigned long)i;
}

int main(int argc, char **argv)
{
	static char memory[65536];
	const char *what = argc > 2 ? argv[2] : "raised";
	int has_timer = !strcmp(what, "timer");
	stack_t alternate = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction outer = {.sa_handler = handler}, inner = {.sa_handler = inner_handler};
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

	is_nested = !strcmp(what, "nested");
	if (!strcmp(what, "stack")) {
		sigaltstack(&alternate, NULL);
		outer.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGUSR1, &outer, NULL);
	sigaction(SIGUSR2, &inner, NULL);
	sigaction(SIGALRM, &outer, NULL);
	if (has_timer)
		setitimer(ITIMER_REAL, &often, NULL);
	while (is_time_left(argv))
		interrupted(has_timer);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
