/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the table of a file with the unwinder on that file. At each address both have the same
 * rule; or the unwinder finds no rule of a table, and the file's table has no rule, or a rule that
 * is made from code, or the mark that the code has to be read. The test fails where they differ.
 * Two differences in damaged files are only counted: sizes beyond the file's end make a read fail
 * or not, depending on its start; and a search in an unsorted index misses functions that the table
 * has.
 */
#ifndef TESTS_UNIT_SYMBOL_ROWS_COMPARE_H
#define TESTS_UNIT_SYMBOL_ROWS_COMPARE_H

#include "scalar.h"

#define ROWS_COMPARE_ALL UINT32_MAX

struct rows_compared {
	u32 rows, rules, chunks;
	u32 looks;
	u32 found;     /* addresses with a rule */
	u32 by_code;   /* of these, addresses that no table covers */
	u32 analysed;  /* of these, rules made from code alone */
	u32 unread;    /* addresses where only one of the two could read its table */
	u32 by_sframe; /* of these, rules without the parts that SFrame cannot express */
};

/* Makes the table of a file and compares it at `looks` random addresses, or at all addresses of
 * code. Returns the error of code_rows_read() if the file has no table. */
int rows_compare(int file, u32 looks, struct rows_compared *compared);

/* A random number below `below`. */
u64 rows_compare_any(u64 below);

#endif
