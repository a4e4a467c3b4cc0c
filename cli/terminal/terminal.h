/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What may be done on an output: progress lines and colours belong on a terminal only, and NO_COLOR
 * (no-color.org) takes the colours away there too. Tables are as wide as their terminal. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "scalar.h"

bool terminal_progress(FILE *stream);
bool terminal_color(FILE *stream);

/* The columns of standard output's terminal, as COLUMNS or the terminal says; 0: standard output is
 * no terminal, or its width is not known, so lines have no bound. The first call finds the width,
 * as a pager that stands between later shows the same terminal. */
u32 terminal_width(void);

/* The columns left for a text behind `used` columns of a line (printable_put_cut()), at least
 * TERMINAL_TEXT_MIN; 0: no bound. */
#define TERMINAL_TEXT_MIN 16
u32 terminal_left(u32 used);

/* Narrows the columns of a table, which are two spaces apart, to the terminal: the widest of those
 * that may be cut (bits of `cut`) first, none below TERMINAL_TEXT_MIN. */
void terminal_fit(u32 *widths, u32 count, u32 cut);

#endif
