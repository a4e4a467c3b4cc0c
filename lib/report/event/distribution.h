/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The values of events, each distinct value with the number of its events. Sums, percentiles and
 * histograms of any scale are therefore exact. Adding is cheap: equal values are joined when the
 * array is full, and by distribution_sort().
 *
 * Events that the kernel has aggregated are added with distribution_add_sum(): percentiles and
 * linear histograms are then estimates, within the power of two of the value.
 *
 * After distribution_sort():
 *    sum of items[].count = count, sum of items[].value * items[].count = sum
 *    items[0].value is the minimum, items[item_count - 1].value the maximum
 */
#ifndef LIB_REPORT_DISTRIBUTION_H
#define LIB_REPORT_DISTRIBUTION_H

#include "scalar.h"

struct value_count {
	u64 value;
	u64 count;
};

/* A distribution of all zeros is empty. */
struct distribution {
	struct value_count *items;
	u32 item_count, room;
	u64 count; /* number of events */
	u64 sum;   /* sum of the events' values; UINT64_MAX: the sum is too large */
};

/* Adds `count` events with this value. -ENOMEM. */
int distribution_add(struct distribution *distribution, u64 value, u64 count);
/* Adds `count` events with this sum of values, as values that differ by 1 at most. -ENOMEM. */
int distribution_add_sum(struct distribution *distribution, u64 sum, u64 count);
/* Adds all events of `other`. -ENOMEM. */
int distribution_merge(struct distribution *distribution, const struct distribution *other);
void distribution_clear(struct distribution *distribution);

/* Sorts the values and joins equal ones. */
void distribution_sort(struct distribution *distribution);

/* The least value that `permille` / 1000 of the events do not exceed (nearest rank). The
 * distribution must be sorted and not empty. */
u64 distribution_percentile(const struct distribution *distribution, u32 permille);

/* Rounds the values down to `digits` significant binary digits, at least 1, and joins equal values.
 * The relative error is below 1 / 2^(digits - 1), and each value stays in its bucket of
 * HISTOGRAM_LOG2. The distribution keeps the sum of the exact values, also when it is merged into
 * another distribution. */
void distribution_round(struct distribution *distribution, u32 digits);

#define DISTRIBUTION_DIGITS_EXACT 64 /* rounding to this many digits changes no value */

/* The number of digits to round to next, if values of `digits` digits still are too many different
 * values: 8 after exact values, then one less each time, at least 1. */
static inline u32 distribution_next_digits(u32 digits)
{
	return digits > 8 ? 8 : digits > 1 ? digits - 1 : 1;
}

enum histogram_scale {
	HISTOGRAM_LOG2,	  /* buckets 0, 1, 2..3, 4..7, ... */
	HISTOGRAM_LINEAR, /* buckets of equal width: 1, 2 or 5 times a power of 10 */
};

struct histogram_bucket {
	u64 from, to; /* lowest and highest value of the bucket */
	u64 count;
};

#define HISTOGRAM_BUCKETS_MAX 65
#define HISTOGRAM_LINEAR_BUCKETS 20

/* Fills the buckets from the bucket of the least value to the bucket of the greatest value, with
 * the empty buckets between them, and returns their number. The distribution must be sorted. */
u32 distribution_histogram(const struct distribution *distribution, enum histogram_scale scale,
			   struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX]);

#endif
