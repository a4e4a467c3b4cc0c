/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins two lists of items, before and after. Items with equal text are one row; a side without
 * the item has a share of 0. Therefore
 *
 *    sum of before = sum of the first list, sum of after = sum of the second list
 *
 * A side (before or after) has units: several recordings, or time slices of a single recording. The
 * scatter of the units is the noise of the side. Each item belongs to one unit.
 */
#ifndef LIB_REPORT_COMPARISON_H
#define LIB_REPORT_COMPARISON_H

#include <stdbool.h>

#include "trace/event.h"
#include "trace/read/reader.h"

enum comparison_side { BEFORE, AFTER, COMPARISON_SIDES };

struct compared_item {
	char *text; /* name of the item, which is freed with the list */
	u32 source, unit;
	u32 row; /* index of the item's row, which comparison_create() sets */
	u64 count, value;
	bool is_sampled; /* true: the events are samples, so their number varies by chance */
	u64 part;	 /* numerator of the item's share; the denominator is in `wholes` */
	double amount;	 /* count or value, scaled up by the lost events */
};

struct compared_list {
	struct compared_item *items;
	u32 count;
};

struct compared_units {
	u32 count, source_count;
	/* True: units are time slices of one recording. Only neighbours are alike, since a program
	 * has phases. False: units are recordings, and all recordings of a side are alike. */
	bool are_slices;
	u64 *wholes;	 /* [source * count + unit]: denominator of the `part` of its items */
	double *amounts; /* [source]: sum of the items' amounts */
	u64 *events;	 /* [source]: number of events */
	u64 *lost_of;	 /* [source]: number of lost events that are known to be of this source */
	u64 lost;	 /* number of other lost events, whose source is unknown */
	/* true: a recording has several sources, including sources that are not compared */
	bool has_many_sources;
	/* number of recorded events that the divisors count; 0: the divisors are times */
	u64 divisor_events;
	double *divisors; /* [unit]: divisor of the amounts; NULL for both sides: amounts are not
			     divided */
};

struct compared_share {
	double percent;
	u64 count;
	u64 value;
	double amount; /* in the unit of the values, divided by the divisors */
	/* what rows are sorted by: percent, or with divisors the amount in percent of all amounts
	 * before */
	double rank;
};

struct comparison_row {
	enum comparison_side side; /* side of the list that `index` refers to */
	u32 index, source;
	bool is_sampled; /* true: the events of the row are samples */
	struct compared_share share[COMPARISON_SIDES];
	double noise; /* half the width of the interval around the change of rank, by
		       * comparison_find_noise(); NAN: unknown */
};

struct comparison {
	struct comparison_row *rows; /* rows sorted by change of rank, the greatest first */
	u32 row_count;
};

/* The number of lost events in a ledger, which may be NULL. Events that a flight recorder has
 * overwritten, that a reset has dropped, or that came during a pause do not count. */
u64 count_lost_events_of_ledger(const struct trace_ledger *ledger);
/* The factor by which the amounts of a recording are multiplied to estimate the amounts of all
 * events that were produced. 1: no event was lost. */
double scale_factor_of_lost_events(const struct trace_ledger *ledger);

/* compared_lost_of_source(): the lost events that are known to be of the source `kind`.
 * compared_lost_of_unknown_source(): the lost events whose source is not known. In a recording with
 * one source, all lost events are of this source. */
u64 compared_lost_of_source(const struct trace_reader *reader, u32 kind);
u64 compared_lost_of_unknown_source(const struct trace_reader *reader);
/* The factor of scale_factor_of_lost_events() for the amounts of one source. Lost events whose
 * source is not known count in proportion to the source's events. */
double compared_scale_of_source(const struct trace_reader *reader, u32 kind);

/* The value after less the value before: of the shares in percentage points, of the amounts, of the
 * ranks. */
double comparison_share_change(const struct comparison_row *row);
double comparison_amount_change(const struct comparison_row *row);
double comparison_rank_change(const struct comparison_row *row);

/* True if the change of rank is greater than the noise, or if the noise is unknown. */
bool comparison_is_beyond_noise(const struct comparison_row *row);

/* Joins the lists of both sides to rows. Both sides must have the same sources. -ENOMEM. */
int comparison_create(struct compared_list lists[COMPARISON_SIDES],
		      const struct compared_units units[COMPARISON_SIDES], struct comparison **out);
void comparison_free(struct comparison **comparison);

/* The sum of the weights of a source's events over the units of a side. */
double sum_weights_of_compared_units(const struct compared_units *units, u32 source);
/* The sum of the divisors of a side's units; 1: amounts are not divided. */
double sum_divisors_of_compared_units(const struct compared_units *units);

/* The sum of the amounts of all events of the source on the side `before`, divided by the divisors
 * of that side. If this side has no such events: the sum of the side `after`. */
double compared_amount_of_all(const struct compared_units units[COMPARISON_SIDES], u32 source);

/* Creates a list of `count` items, all zero. -ENOMEM. */
int compared_list_create(struct compared_list *list, u32 count);
void compared_list_free(struct compared_list *list);

#endif
