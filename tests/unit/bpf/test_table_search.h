/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables whose rules say where they belong. A row of SPACING bytes has a rule of its own, with the
 * file's number and the row in its CFA's offset; the table of one file has more rows than that of
 * the one before, so its chunks mean something else.
 */
#ifndef TEST_TABLE_SEARCH_H
#define TEST_TABLE_SEARCH_H

#include "file_table.h"
#include "scalar.h"

#define FILES 8
#define SPACING 16
#define ROWS(number) (600 * (number))
#define CFA_OFFSET(number, row) ((s32)((number) << 16 | (row)))

#define INTERRUPTED_ONE_IN 4
#define INTERRUPTION 10000 /* steps */

/* Random searches, and what became of them. */
struct search_count {
	u32 searches;
	u32 found;
	u32 missing;
	u32 wrong;
};

#endif
