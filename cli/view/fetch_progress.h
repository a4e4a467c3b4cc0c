/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shows the progress of fetched files in a line on the terminal. The first Ctrl-C ends the fetch,
 * the second one ends the command. */
#ifndef CLI_FETCH_PROGRESS_H
#define CLI_FETCH_PROGRESS_H

#include "symbol/debuginfo/debug_fetch.h"

extern const struct debug_watch fetch_progress;

#endif
