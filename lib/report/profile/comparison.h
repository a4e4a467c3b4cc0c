/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two lists of things with shares, before and after, as one: things of equal text are one row, and
 * one that a side does not have has a share of 0 there. So
 *
 *   sum of before = sum of the first list's shares, sum of after = that of the second
 */
#ifndef LIB_REPORT_COMPARISON_H
#define LIB_REPORT_COMPARISON_H

#include "scalar.h"

enum comparison_side { BEFORE, AFTER, COMPARISON_SIDES };

struct compared_share {
	double percent;
	u64 count;
	u64 value;
	double amount; /* count or value, whichever it weighs by, in the unit of the comparison */
	double rank;   /* rows are ordered by how much this changed */
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
	enum comparison_side side; /* where the thing is found: item `index` of that list */
	u32 index;
	struct compared_share share[COMPARISON_SIDES];
};

struct comparison {
	struct comparison_row *rows; /* the greatest change of rank first */
	u32 row_count;
};

/* after - before: of the shares, in percentage points; of the amounts; and of what orders rows. */
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
