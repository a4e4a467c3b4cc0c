/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a command that records ends, in each of its phases. SIGINT, SIGTERM and SIGHUP ask for it.
 *
 *   begins    the first interrupts it (lib/interrupt.h): what was made is taken away, and the
 *             process ends by that signal
 *   goes on   signals are events of the main loop, through a descriptor
 *   finishes  the first interrupts it: what is there is kept
 *
 * The second one in the first or last phase does what it does to any process: it ends it.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/* Begins. The descriptor for the main loop, or -errno. A write that fails gives an error from here
 * on, and no signal. */
int signals_take(void);

/* Goes on: from here on signals wait to be asked for; processes forked later have to unblock them.
 * False: one came before, and it goes on beginning. */
bool signals_hold(void);

/* Finishes. */
void signals_release(void);

/* The signal that came, or 0 after `ms`; -1: waits for one. */
int signals_wait(int signals, int ms);

/* Interrupt, termination, or the terminal is gone. */
bool signal_asks_to_end(int signal);

/* The last thing that a command does: was it interrupted when it began, the process ends here, by
 * the signal. */
void signals_end_interrupted(void);

#endif
