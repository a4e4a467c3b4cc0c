/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capabilities of an output: only terminals get progress lines and colours, and NO_COLOR
 * (no-color.org) disables colours. Tables are as wide as their terminal. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "scalar.h"

bool terminal_progress(FILE *stream);
bool terminal_color(FILE *stream);

/* The width of standard output's terminal, by COLUMNS or the terminal itself; 0: not a terminal, or
 * unknown, so lines have no bound. The first call stores the width, because a pager that is started
 * later shows the same terminal. */
u32 terminal_width(void);

/* The columns left for a text behind `used` columns of a line (printable_put_cut()), at least
 * TERMINAL_TEXT_MIN; 0: no bound. */
#define TERMINAL_TEXT_MIN 16
u32 terminal_left(u32 used);

/* Narrows the columns of a table, which are two spaces apart, to the terminal: the widest of those
 * that may be cut (bits of `cut`) first, none below TERMINAL_TEXT_MIN. */
void terminal_fit(u32 *widths, u32 count, u32 cut);

/* Output on a terminal goes through a pager, as with git and perf. */

/* Starts the pager ($PAGER, else the system's) for standard output if that is a terminal. The
 * process waits for the pager at its end. Call before the first output. */
void pager_start(void);

#endif
