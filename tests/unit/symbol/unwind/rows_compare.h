/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of a file against the unwinder on that file: at any address both have the same rule, or
 * the table has none, or what the code leads to, or says that the code has to be read, and the
 * unwinder none of a table either. The test fails where they differ. In a damaged file that speaks
 * of more than there is, it depends on where a read begins whether the read fails; and a search in
 * an index that does not ascend misses functions, which the table knows. Both is counted.
 */
#ifndef TESTS_UNIT_SYMBOL_ROWS_COMPARE_H
#define TESTS_UNIT_SYMBOL_ROWS_COMPARE_H

#include "scalar.h"

#define ROWS_COMPARE_ALL UINT32_MAX

struct rows_compared {
	u32 rows, rules, chunks;
	u32 looks;
	u32 found;     /* addresses with a rule */
	u32 by_code;   /* of these, where no table covers the code */
	u32 analysed;  /* of these, by the code alone */
	u32 unread;    /* where one of both could not read its table, and the other could */
	u32 by_sframe; /* of these, with one that has lost what SFrame cannot say */
};

/* Makes the table of a file and compares it at that many random addresses, or at all that are code.
 * Of a file without a table: what code_rows_read() says. */
int rows_compare(int file, u32 looks, struct rows_compared *compared);

/* A random number. */
u64 rows_compare_any(u64 below);

#endif
