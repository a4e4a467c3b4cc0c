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

/* The columns of the terminal that standard output is, as COLUMNS or the terminal says; 0: standard
 * output is none, or nothing is known, and lines have no bound. It is found out once: a pager that
 * comes between later shows the same terminal. */
u32 terminal_width(void);

/* What a text behind `used` columns may take of its line (printable_put_cut()); 0: no bound. A
 * terminal that is too narrow gets TERMINAL_TEXT_MIN columns all the same. */
#define TERMINAL_TEXT_MIN 16
u32 terminal_left(u32 used);

/* Narrows the columns of a table, which are two spaces apart, to the terminal: the widest of those
 * that may be cut (bits of `cut`) first, none below TERMINAL_TEXT_MIN. */
void terminal_fit(u32 *widths, u32 count, u32 cut);

#endif
