/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the user sees of files that are fetched, and how he ends it: a line on the terminal, and the
 * first Ctrl-C. The second one does what it always does. */
#ifndef CLI_FETCH_PROGRESS_H
#define CLI_FETCH_PROGRESS_H

#include "symbol/debuginfo/debug_fetch.h"

extern const struct debug_watch fetch_progress;

#endif
