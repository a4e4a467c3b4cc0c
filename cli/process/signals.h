/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP end a command that records, depending on its phase:
 *
 *   begins    the first signal interrupts the command (lib/interrupt.h): its files and maps are
 *             removed, and the process ends by that signal
 *   goes on   signals are events of the main loop, through a descriptor
 *   finishes  the first signal interrupts the command: the recording so far is kept
 *
 * A second signal in the first or last phase ends the process.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/*
 * Enters the phase "begins". Returns the descriptor for the main loop, or -errno. From now on a
 * failed write gives an error instead of a signal.
 */
int signals_install_and_open_fd(void);

/*
 * Enters the phase "goes on": signals are pending until they are read, and processes that are
 * forked later must unblock the signals. False: a signal came before, and the phase stays "begins".
 */
bool signals_block_until_read(void);

/* Enters the phase "finishes". */
void signals_unblock_for_finish(void);

/*
 * Returns the signal that came. Returns 0 after `ms` milliseconds, or when the descriptor `wake` is
 * readable. `ms` -1: no time limit; `wake` -1: no descriptor.
 */
int signals_wait(int signals, int wake, int ms);

/* True for SIGINT, SIGTERM and SIGHUP: interrupt, termination, or the terminal has gone. */
bool signal_asks_to_end(int signal);

/* Call it last in a command: ends the process by the signal that interrupted the phase "begins". */
void signals_exit_as_interrupted(void);

#endif
