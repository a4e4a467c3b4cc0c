/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins two lists of items, before and after. Items with equal text are one row; a side without
 * the item has a share of 0. Therefore
 *
 *    sum of before = sum of the first list, sum of after = that of the second
 *
 * A side has units, whose scatter is its noise: several recordings, or the slices of time of its
 * only one. Each item is of one unit.
 */
#ifndef LIB_REPORT_COMPARISON_H
#define LIB_REPORT_COMPARISON_H

#include <stdbool.h>

#include "trace/event.h"

enum comparison_side { BEFORE, AFTER, COMPARISON_SIDES };

struct compared_item {
	char *text; /* freed with the list */
	u32 source, unit;
	u32 row; /* set by comparison_create() */
	u64 count, value;
	bool is_sampled; /* the events are samples, so their number varies by chance */
	u64 part;	 /* of the whole, for the share */
	double amount;	 /* count or value, scaled up by the lost events */
};

struct compared_list {
	struct compared_item *items;
	u32 count;
};

struct compared_units {
	u32 count, source_count;
	/* Units are slices of one recording's time: only neighbours are alike, since a program has
	 * phases. Otherwise all units of the side are alike. */
	bool are_slices;
	u64 *wholes;	 /* [source * count + unit]: the sum that the parts of its items refer to */
	double *amounts; /* [source]: the sum of the amounts of its items */
	u64 *events;	 /* [source] */
	u64 lost;	 /* events, of any source */
	bool has_many_sources; /* in a recording, also those that are not compared */
	u64 divisor_events;    /* recorded events that the divisors count; 0: divisors are times */
	double *divisors;      /* [unit]; NULL for both sides: amounts are not divided */
};

struct compared_share {
	double percent;
	u64 count;
	u64 value;
	double amount; /* in its unit, divided by the divisors */
	double rank;   /* percent, or with divisors the amount in percent of all amounts before */
};

struct comparison_row {
	enum comparison_side side; /* the list that `index` refers to */
	u32 index, source;
	bool is_sampled; /* of its items */
	struct compared_share share[COMPARISON_SIDES];
	double noise; /* half the width of the interval around the change of rank, by
		       * comparison_find_noise(); NAN: unknown */
};

struct comparison {
	struct comparison_row *rows; /* by change of rank, the greatest first */
	u32 row_count;
};

/* The lost events of a ledger, which may be NULL, of the time that its file is about: without those
 * that a flight recorder has replaced, and those that came during a pause. */
u64 compared_lost(const struct trace_ledger *ledger);
/* Amounts of a recording times this are those of all events that were produced; 1: nothing was
 * lost. */
double compared_scale(const struct trace_ledger *ledger);

/* After less before: shares in percentage points, amounts, ranks. */
double comparison_share_change(const struct comparison_row *row);
double comparison_amount_change(const struct comparison_row *row);
double comparison_rank_change(const struct comparison_row *row);

/* The ranks differ by more than the noise, or the noise is unknown. */
bool comparison_is_beyond_noise(const struct comparison_row *row);

/* Both sides have the same sources. -ENOMEM. */
int comparison_create(struct compared_list lists[COMPARISON_SIDES],
		      const struct compared_units units[COMPARISON_SIDES], struct comparison **out);
void comparison_free(struct comparison **comparison);

/* Sums over the units of a side. */
double compared_whole(const struct compared_units *units, u32 source);
double compared_divisor(const struct compared_units *units); /* 1: amounts are not divided */

/* The amount of all events of the source before, divided; without such events, of those after. */
double compared_amount_of_all(const struct compared_units units[COMPARISON_SIDES], u32 source);

/* -ENOMEM: the list has room for `count` items, all zero. */
int compared_list_create(struct compared_list *list, u32 count);
void compared_list_free(struct compared_list *list);

#endif
