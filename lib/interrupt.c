/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A signal handler runs in the thread that it interrupts, so two variables of type sig_atomic_t
 * suffice for the two requests. */
#include "interrupt.h"

#include <signal.h>
#include <time.h>

static volatile sig_atomic_t end_asked, now_asked;

void interrupt_request_end(void)
{
	end_asked = 1;
}

void interrupt_request_immediate_end(void)
{
	now_asked = 1;
}

bool interrupted(void)
{
	return now_asked;
}

bool is_end_requested(void)
{
	sigset_t pending;

	if (end_asked || now_asked)
		return true;
	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1);
}

/* Sleeps for a time; a signal ends the sleep early. */
void sleep_until_timeout_or_signal(unsigned int ms)
{
	const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	if (!interrupted())
		nanosleep(&pause, NULL);
}
