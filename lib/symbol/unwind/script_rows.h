/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the loop of an interpreter in a file, and marks the rows of the loop's code. The file may
 * hold any bytes, so this runs in a sandbox.
 */
#ifndef LIB_SYMBOL_SCRIPT_ROWS_H
#define LIB_SYMBOL_SCRIPT_ROWS_H

#include "symbol/unwind/code_rows.h"

/*
 * Sets rows->script from a file whose rows and functions with tables (ascending) are given, and
 * gives the rows of the loop the kind CFA_SCRIPT_LOOP where the frames of the script can be found.
 * -ENOENT: the file has no interpreter; -EOPNOTSUPP: the version or the build is not known, and
 * rows->script says which and why (script_loop.h); -ENOMEM, -E2BIG. After an error the rows are
 * unchanged.
 */
int script_rows_mark(int file, const struct file_spans *covered, struct code_rows *rows);

#endif
