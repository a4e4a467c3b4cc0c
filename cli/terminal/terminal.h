/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The capabilities of an output stream. Only terminals get progress lines and colours, and NO_COLOR
 * (no-color.org) disables colours. Tables are as wide as their terminal.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "scalar.h"

bool can_show_progress_on_terminal(FILE *stream);
bool can_show_color_on_terminal(FILE *stream);

/*
 * The width of standard output's terminal, by COLUMNS or by the terminal itself; 0: standard output
 * is not a terminal, or the width is unknown, so lines have no limit. The first call stores the
 * width, because a pager that is started later shows the text on the same terminal.
 */
u32 terminal_width(void);

/*
 * The number of columns left for a text (printable_put_cut()) after `used` columns of a line, at
 * least TERMINAL_TEXT_MIN; 0: no limit.
 */
#define TERMINAL_TEXT_MIN 16
u32 columns_left_in_terminal_line(u32 used);

/*
 * Narrows the columns of a table to the width of the terminal. Columns are separated by two spaces.
 * Only columns whose bit is set in `cut` are narrowed, the widest one first, and none below
 * TERMINAL_TEXT_MIN.
 */
void shrink_columns_to_terminal(u32 *widths, u32 count, u32 cut);

/* Output on a terminal goes through a pager, as with git and perf. */

/*
 * Starts the pager ($PAGER, else the system's default) if standard output is a terminal. The
 * process waits for the pager before it ends. Call it before the first output.
 */
void pipe_output_to_pager(void);

#endif
