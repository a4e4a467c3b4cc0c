/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals as events of the main loop, through a descriptor. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/* From here on signals wait to be asked for; processes forked later have to unblock them. The
 * descriptor, or -errno. */
int signals_take(void);

/* The signal that came, or 0 after `ms`; -1: waits for one. */
int signals_wait(int signals, int ms);

/* Interrupt, termination, or the terminal is gone. */
bool signal_asks_to_end(int signal);

#endif
