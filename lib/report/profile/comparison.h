/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins two lists of items with shares, before and after. Items with equal text are one row; a side
 * without the item has a share of 0. Therefore
 *
 *    sum of before = sum of the first list's shares, sum of after = that of the second
 */
#ifndef LIB_REPORT_COMPARISON_H
#define LIB_REPORT_COMPARISON_H

#include "scalar.h"

enum comparison_side { BEFORE, AFTER, COMPARISON_SIDES };

struct compared_share {
	double percent;
	u64 count;
	u64 value;
	double amount; /* count or value, by the weight of the comparison, in its unit */
	double rank;   /* rows are sorted by the change of this number */
};

struct compared_item {
	char *text; /* freed with the list */
	struct compared_share share;
};

struct compared_list {
	struct compared_item *items;
	u32 count;
};

struct comparison_row {
	enum comparison_side side; /* the list that `index` refers to */
	u32 index;
	struct compared_share share[COMPARISON_SIDES];
};

struct comparison {
	struct comparison_row *rows; /* by change of rank, the greatest first */
	u32 row_count;
};

/* after - before of the shares in percentage points, of the amounts, and of the ranks. */
double comparison_delta(const struct comparison_row *row);
double comparison_change(const struct comparison_row *row);
double comparison_moved(const struct comparison_row *row);

/* Items of one list with equal text add up. -ENOMEM. */
int comparison_create(const struct compared_list lists[COMPARISON_SIDES], struct comparison **out);
void comparison_free(struct comparison **comparison);

/* -ENOMEM: the list has room for `count` items, all zero. */
int compared_list_create(struct compared_list *list, u32 count);
void compared_list_free(struct compared_list *list);

#endif
