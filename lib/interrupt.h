/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to end this process. A command that catches signals reports them here; code that waits,
 * or runs for long, checks here between two steps. The state is one per process, like a signal.
 * Without a report the process is never interrupted.
 */
#ifndef LIB_INTERRUPT_H
#define LIB_INTERRUPT_H

#include <stdbool.h>

/* Requests the end: work that has begun is still finished. */
void interrupt_request_end(void);

/* Requests that all work be given up at once. Async-signal-safe. */
void interrupt_request_immediate_end(void);

/* True after interrupt_request_immediate_end(): give up with -EINTR. */
bool interrupted(void);

/* True after either request, or while SIGINT, SIGTERM or SIGHUP is blocked and pending. */
bool is_end_requested(void);

/* Sleeps for a time; returns at once if the process is interrupted. */
void sleep_until_timeout_or_signal(unsigned int ms);

#endif
