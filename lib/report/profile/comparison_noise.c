/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The noise is found by the bootstrap: the comparison is repeated with units that are drawn at
 * random from those of each side. Of n units that are alike, n - 1 are drawn, with replacement, and
 * count n / (n - 1) each (J. N. K. Rao and C. F. J. Wu, Resampling inference with complex survey
 * data, 1988): the scatter of the repetitions is then that of whole recordings, even for two units.
 * Recordings of a side are alike; slices of one recording are alike in pairs of neighbours.
 *
 * Many rows are compared at once, and the greatest of many random changes is large. So each
 * repetition's changes are measured in standard deviations of their rows, and the greatest of them
 * is kept: rows are within that many deviations, all at once, in 95 % of the repetitions.
 *
 * The number of samples in a row scatters at least as that of independent events does, which units
 * do not show where a row has few of them: the variance of n samples is at least n.
 *
 * A deviation that is found from few units is uncertain; Student's distribution says how much wider
 * the interval has to be.
 */
#include "comparison_noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPETITIONS 1000
#define REPETITIONS_LEAST 200
#define ITEMS_MOST 200000000 /* that are added up in all repetitions: about a second */
#define COVERED 0.95
#define NORMAL_QUANTILE 1.959964 /* of two-sided 95 % */
#define SEED 1
#define ROUNDING 1e-9 /* percent: smaller deviations are those of the arithmetic */

struct repeated {
	double *drawn;	/* by unit: how often it counts */
	double *wholes; /* by source */
	double *ranks;	/* by row */
};

struct bootstrap {
	const struct compared_list *lists;
	const struct compared_units *units;
	u32 row_count, source_count;
	struct repeated side[COMPARISON_SIDES];
	double *scale;	   /* by source: percent of a divided amount */
	double *changes;   /* by row, of the comparison itself */
	double *deviation; /* by row */
	double *samples;   /* by row: scratch of add_sampling() */
	u64 random;
};

/* splitmix64 by Sebastiano Vigna. */
static u64 next_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Below `count`, which is small: the bias of the product is below 2^-16. */
static u32 random_below(u64 *state, u32 count)
{
	return (u32)((next_random(state) >> 32) * count >> 32);
}

static void draw(const struct compared_units *units, u64 *random, double *drawn)
{
	u32 count = units->count;

	memset(drawn, 0, count * sizeof(*drawn));
	if (units->are_slices) {
		for (u32 unit = 0; unit + 1 < count; unit += 2)
			drawn[unit + random_below(random, 2)] = 2;
		if (count % 2)
			drawn[count - 1] = 1;
		return;
	}
	for (u32 i = 0; i + 1 < count; i++)
		drawn[random_below(random, count)] += count / (count - 1.0);
}

static void draw_all(const struct compared_units *units, double *drawn)
{
	for (u32 unit = 0; unit < units->count; unit++)
		drawn[unit] = 1;
}

/* Adds up the ranks of all rows of a side, with its drawn units. */
static void add_up(struct bootstrap *bootstrap, enum comparison_side side)
{
	const struct compared_units *units = &bootstrap->units[side];
	const struct compared_list *list = &bootstrap->lists[side];
	struct repeated *repeated = &bootstrap->side[side];

	for (u32 source = 0; source < bootstrap->source_count; source++) {
		double sum = 0;

		for (u32 unit = 0; unit < units->count; unit++)
			sum += repeated->drawn[unit] *
			       (units->divisors
					? units->divisors[unit] * bootstrap->scale[source]
					: (double)units->wholes[source * units->count + unit]);
		repeated->wholes[source] = sum / 100;
	}
	memset(repeated->ranks, 0, bootstrap->row_count * sizeof(*repeated->ranks));
	for (u32 i = 0; i < list->count; i++) {
		const struct compared_item *item = &list->items[i];
		double whole = repeated->wholes[item->source];

		if (whole > 0)
			repeated->ranks[item->row] +=
				repeated->drawn[item->unit] *
				(double)(units->divisors ? item->amount : item->part) / whole;
	}
}

static double change_of(const struct bootstrap *bootstrap, u32 row)
{
	return bootstrap->side[AFTER].ranks[row] - bootstrap->side[BEFORE].ranks[row];
}

static void repeat(struct bootstrap *bootstrap)
{
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		draw(&bootstrap->units[side], &bootstrap->random, bootstrap->side[side].drawn);
		add_up(bootstrap, side);
	}
}

/* Adds the least variance of each row's samples to `variance`. */
static void add_sampling(struct bootstrap *bootstrap, enum comparison_side side, double *variance)
{
	const struct compared_list *list = &bootstrap->lists[side];
	const double *ranks = bootstrap->side[side].ranks;

	memset(bootstrap->samples, 0, bootstrap->row_count * sizeof(*bootstrap->samples));
	for (u32 i = 0; i < list->count; i++)
		if (list->items[i].is_sampled)
			bootstrap->samples[list->items[i].row] += (double)list->items[i].count;
	for (u32 row = 0; row < bootstrap->row_count; row++)
		if (bootstrap->samples[row] > 0)
			variance[row] += ranks[row] * ranks[row] / bootstrap->samples[row];
}

static void find_changes(struct bootstrap *bootstrap, double *variance)
{
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		draw_all(&bootstrap->units[side], bootstrap->side[side].drawn);
		add_up(bootstrap, side);
		add_sampling(bootstrap, side, variance);
	}
	for (u32 row = 0; row < bootstrap->row_count; row++)
		bootstrap->changes[row] = change_of(bootstrap, row);
}

/* -ENOMEM. */
static int find_deviations(struct bootstrap *bootstrap, u32 repetitions)
{
	double *least = calloc(bootstrap->row_count + 1UL, sizeof(*least));

	if (!least)
		return -ENOMEM;
	find_changes(bootstrap, least);
	bootstrap->random = SEED;
	for (u32 i = 0; i < repetitions; i++) {
		repeat(bootstrap);
		for (u32 row = 0; row < bootstrap->row_count; row++) {
			double by = change_of(bootstrap, row) - bootstrap->changes[row];

			bootstrap->deviation[row] += by * by;
		}
	}
	for (u32 row = 0; row < bootstrap->row_count; row++) {
		double seen = sqrt(bootstrap->deviation[row] / repetitions);

		if (seen < ROUNDING)
			seen = 0;
		bootstrap->deviation[row] = fmax(seen, sqrt(least[row]));
	}
	free(least);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The number of deviations that no row leaves in 95 % of the repetitions. -ENOMEM. */
static int find_width(struct bootstrap *bootstrap, u32 repetitions, double *width)
{
	double *greatest = calloc(repetitions, sizeof(*greatest));

	if (!greatest)
		return -ENOMEM;
	bootstrap->random = SEED;
	for (u32 i = 0; i < repetitions; i++) {
		repeat(bootstrap);
		for (u32 row = 0; row < bootstrap->row_count; row++) {
			double by = fabs(change_of(bootstrap, row) - bootstrap->changes[row]);

			if (bootstrap->deviation[row] > 0 &&
			    by > greatest[i] * bootstrap->deviation[row])
				greatest[i] = by / bootstrap->deviation[row];
		}
	}
	qsort(greatest, repetitions, sizeof(*greatest), by_size);
	*width = fmax(greatest[(u32)(COVERED * repetitions)], NORMAL_QUANTILE);
	free(greatest);
	return 0;
}

static u32 degrees_of_freedom(const struct compared_units *units)
{
	return units->are_slices ? units->count / 2 : units->count - 1;
}

/* Student's quantile as a multiple of the normal one: M. Abramowitz and I. A. Stegun, Handbook of
 * Mathematical Functions, 26.7.5; 3 % too small for 2 degrees, better for more. */
static double student_factor(u32 degrees)
{
	const double x = NORMAL_QUANTILE, x2 = x * x, n = degrees;

	return 1 + (x2 + 1) / (4 * n) + ((5 * x2 + 16) * x2 + 3) / (96 * n * n) +
	       (((3 * x2 + 19) * x2 + 17) * x2 - 15) / (384 * n * n * n);
}

static int alloc_bootstrap(struct bootstrap *bootstrap)
{
	size_t rows = bootstrap->row_count + 1UL, sources = bootstrap->source_count + 1UL;
	bool has_all;

	bootstrap->scale = calloc(sources, sizeof(double));
	bootstrap->changes = calloc(rows, sizeof(double));
	bootstrap->deviation = calloc(rows, sizeof(double));
	bootstrap->samples = calloc(rows, sizeof(double));
	has_all = bootstrap->scale && bootstrap->changes && bootstrap->deviation &&
		  bootstrap->samples;
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		struct repeated *repeated = &bootstrap->side[side];

		repeated->drawn = calloc(bootstrap->units[side].count, sizeof(double));
		repeated->wholes = calloc(sources, sizeof(double));
		repeated->ranks = calloc(rows, sizeof(double));
		has_all = has_all && repeated->drawn && repeated->wholes && repeated->ranks;
	}
	return has_all ? 0 : -ENOMEM;
}

static void free_bootstrap(struct bootstrap *bootstrap)
{
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		free(bootstrap->side[side].drawn);
		free(bootstrap->side[side].wholes);
		free(bootstrap->side[side].ranks);
	}
	free(bootstrap->scale);
	free(bootstrap->changes);
	free(bootstrap->deviation);
	free(bootstrap->samples);
}

int comparison_find_noise(const struct compared_list lists[COMPARISON_SIDES],
			  const struct compared_units units[COMPARISON_SIDES],
			  struct comparison *comparison)
{
	struct bootstrap bootstrap = {.lists = lists,
				      .units = units,
				      .row_count = comparison->row_count,
				      .source_count = units[BEFORE].source_count};
	u64 items = (u64)lists[BEFORE].count + lists[AFTER].count + 1;
	u32 repetitions = REPETITIONS;
	double width, factor;
	int err;

	if (units[BEFORE].count < 2 || units[AFTER].count < 2)
		return 0;
	if (items * repetitions > ITEMS_MOST)
		repetitions = items * REPETITIONS_LEAST > ITEMS_MOST ? REPETITIONS_LEAST
								     : (u32)(ITEMS_MOST / items);
	factor = student_factor(degrees_of_freedom(&units[BEFORE]) +
				degrees_of_freedom(&units[AFTER]));
	err = alloc_bootstrap(&bootstrap);
	if (!err) {
		for (u32 source = 0; source < bootstrap.source_count; source++)
			bootstrap.scale[source] = compared_amount_of_all(units, source);
		err = find_deviations(&bootstrap, repetitions);
		err = err ?: find_width(&bootstrap, repetitions, &width);
	}
	for (u32 row = 0; row < comparison->row_count && !err; row++)
		comparison->rows[row].noise = factor * width * bootstrap.deviation[row] +
					      units[BEFORE].lost + units[AFTER].lost;
	free_bootstrap(&bootstrap);
	return err;
}
