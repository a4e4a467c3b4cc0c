/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether this process is to end. A command that catches signals says so here; whatever waits, or
 * goes on for long, asks here between two steps. There is one answer for the process, as a signal
 * is for the process. Where nobody says anything, nothing is ever interrupted.
 */
#ifndef LIB_INTERRUPT_H
#define LIB_INTERRUPT_H

#include <stdbool.h>

/* The end was asked for: what was begun is still finished. */
void interrupt_end(void);

/* Nobody waits any longer: what goes on is given up. Async-signal-safe. */
void interrupt_now(void);

/* After interrupt_now(): to be given up, with -EINTR. */
bool interrupted(void);

/* After either, or while SIGINT, SIGTERM or SIGHUP is blocked and pending. */
bool interrupt_end_asked(void);

/* Waits, but not on when interrupted. */
void interrupt_nap(unsigned int ms);

#endif
