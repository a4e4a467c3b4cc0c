/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables whose rules identify themselves. Each row of SPACING bytes has a rule whose CFA offset
 * encodes the file's number and the row. Each file's table has more rows than that of the file
 * before, so equal chunk numbers have different content.
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
#define INTERRUPTION 10000 /* number of steps that an interruption takes */

/* Results of random searches. */
struct search_count {
	u32 searches;
	u32 found;
	u32 missing;
	u32 wrong;
};

#endif
