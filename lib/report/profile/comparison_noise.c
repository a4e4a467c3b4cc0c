/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A rank is a ratio of two sums over the units of a side. The scatter of the units' residuals gives
 * its variance (W. G. Cochran, Sampling Techniques, 1977, chapters 5 and 6: ratios, strata). All
 * recordings of a side are one stratum; slices of one recording are strata of two neighbours.
 *
 * Few recordings give each row an uncertain variance, but there are many rows. The variance of n
 * independent events is known, so each row also gets a second variance: the one that its events
 * would have if they scattered as the events of the median row do. The two variances are averaged,
 * weighted by their degrees of freedom (as in G. K. Smyth, Linear models and empirical Bayes
 * methods, 2004). The result is never less than the row's own variance, and for samples never less
 * than the variance of independent events: a row with few samples has too few samples in each unit
 * to show its scatter.
 *
 * The interval is Student's, with the degrees of freedom of a difference (F. E. Satterthwaite,
 * 1946), for all rows at once by Bonferroni's inequality. Rows with very few events cannot exceed
 * the interval, so Bonferroni's inequality does not count these rows as comparisons.
 */
#include "comparison_noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* probability that any row of an unchanged program exceeds its interval */
#define OUTSIDE 0.05
#define EVENTS_LEAST                                                                               \
	5 /* number of events on both sides; a row with fewer events does not count as a           \
	     comparison */
#define POOLED_DEGREES 10 /* most degrees of freedom of the median row's scatter */
#define DEGREES_MOST 256
#define ROUNDING 1e-6
#define STEPS 256 /* number of steps of a numerical integral */

struct estimate {
	double rank;
	double events;
	double variance; /* variance by the scatter of the units */
	double expected; /* variance that as many independent events would have */
};

struct side_noise {
	const struct compared_list *list;
	const struct compared_units *units;
	double *scale;	       /* by source: the whole of which a rank is a percentage */
	double *residuals;     /* [row * units + unit]: residual of the row in the unit */
	struct estimate *rows; /* estimates for each row; index: row */
	double degrees, pooled_degrees, scatter;
};

/* The denominator of a unit. A rank is the sum of the weights divided by the sum of the
 * denominators. */
static double rank_denominator_of_unit(const struct side_noise *side, u32 source, u32 unit)
{
	const struct compared_units *units = side->units;

	return (units->divisors ? units->divisors[unit] * side->scale[source]
				: (double)units->wholes[source * units->count + unit]) /
	       100;
}

static double residual_variance(const struct compared_units *units, const double *residuals)
{
	double squares = 0;

	if (units->are_slices) {
		for (u32 i = 0; i + 1 < units->count; i += 2)
			squares += pow(residuals[i] - residuals[i + 1], 2);
		return squares;
	}
	for (u32 i = 0; i < units->count; i++)
		squares += pow(residuals[i], 2);
	return squares * units->count / (units->count - 1);
}

static void estimate_row_variance(struct side_noise *side, u32 row, u32 source)
{
	struct estimate *estimate = &side->rows[row];
	double *residuals = &side->residuals[(size_t)row * side->units->count];
	double sum = 0, part = 0;

	for (u32 unit = 0; unit < side->units->count; unit++)
		sum += rank_denominator_of_unit(side, source, unit);
	if (sum <= 0)
		return;
	estimate->rank /= sum;
	for (u32 unit = 0; unit < side->units->count; unit++)
		residuals[unit] -= estimate->rank * rank_denominator_of_unit(side, source, unit);
	estimate->variance = residual_variance(side->units, residuals) / (sum * sum);
	if (!side->units->divisors)
		part = fmin(estimate->rank / 100, 1);
	if (estimate->events > 0)
		estimate->expected = pow(estimate->rank, 2) * (1 - part) / estimate->events;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The scatter of the median row, as a multiple of that of independent events. -ENOMEM. */
static int find_median_scatter(struct side_noise *side, u32 row_count)
{
	double *ratios = calloc(row_count + 1UL, sizeof(*ratios));
	u32 count = 0;

	if (!ratios)
		return -ENOMEM;
	for (u32 row = 0; row < row_count; row++)
		if (side->rows[row].events >= EVENTS_LEAST && side->rows[row].expected > 0)
			ratios[count++] = side->rows[row].variance / side->rows[row].expected;
	qsort(ratios, count, sizeof(*ratios), compare_doubles);
	side->degrees = side->units->are_slices ? side->units->count / 2 : side->units->count - 1;
	if (count > 1) {
		/* The median of a chi-square variable by its mean: Wilson and Hilferty, 1931. */
		side->scatter = ratios[count / 2] / pow(1 - 2 / (9 * side->degrees), 3);
		side->pooled_degrees = fmin(POOLED_DEGREES, (count - 1) * side->degrees);
	}
	free(ratios);
	return 0;
}

static int estimate_side_variances(struct side_noise *side, const struct comparison *comparison)
{
	size_t rows = comparison->row_count + 1UL;

	side->residuals = calloc(rows * side->units->count, sizeof(double));
	side->rows = calloc(rows, sizeof(*side->rows));
	if (!side->residuals || !side->rows)
		return -ENOMEM;
	for (u32 i = 0; i < side->list->count; i++) {
		const struct compared_item *item = &side->list->items[i];
		double weight = side->units->divisors ? item->amount : (double)item->part;

		side->residuals[(size_t)item->row * side->units->count + item->unit] += weight;
		side->rows[item->row].rank += weight;
		side->rows[item->row].events += (double)item->count;
	}
	for (u32 row = 0; row < comparison->row_count; row++)
		estimate_row_variance(side, row, comparison->rows[row].source);
	return find_median_scatter(side, comparison->row_count);
}

/* The integral of cos^(degrees - 1) from `from` to pi / 2, by Simpson's rule. */
static double integrate_cosine_power(double from, double degrees)
{
	double width = (M_PI_2 - from) / STEPS, sum = 0;

	for (u32 i = 0; i <= STEPS; i++)
		sum += (i == 0 || i == STEPS ? 1
			: i % 2		     ? 4
					     : 2) *
		       pow(fmax(cos(from + i * width), 0), degrees - 1);
	return sum * width / 3;
}

/* The value that Student's variable exceeds, up or down, with this probability. Its density is that
 * of cosines: t = tan(angle) * sqrt(degrees). */
static double student_quantile(double outside, double degrees)
{
	double low = 0, high = M_PI_2, whole = integrate_cosine_power(0, degrees);

	for (u32 i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (integrate_cosine_power(middle, degrees) > outside * whole)
			low = middle;
		else
			high = middle;
	}
	return tan(low) * sqrt(degrees);
}

/*
 * The rank that the lost events of a side may have added to a row of this source. A lost event that
 * is known to be of this source may belong to any row. Any other lost event may be of this source,
 * too, or of the source whose events are the divisors: the amounts of both sources are scaled up by
 * a factor for these events.
 */
static double max_rank_of_lost_events(const struct side_noise *side, u32 source)
{
	const struct compared_units *units = side->units;
	double known = (double)units->lost_of[source], lost = (double)units->lost;
	double events = (double)units->events[source], of_all = 1;

	if (lost + known == 0)
		return 0;
	if (units->divisors && side->scale[source] > 0)
		of_all = units->amounts[source] / sum_divisors_of_compared_units(units) /
			 side->scale[source];
	if (!units->divisors || !units->has_many_sources || !units->lost)
		return 100 * (lost + known) / (lost + known + events) * of_all;
	if (units->divisor_events)
		lost += lost * events / (double)units->divisor_events;
	return 100 * (lost + known) / events * of_all;
}

/* Quantiles by whole degrees of freedom; 0: not computed yet. */
struct quantiles {
	double outside;
	double of[DEGREES_MOST + 1];
};

static double compute_row_noise(const struct side_noise sides[COMPARISON_SIDES],
				const struct comparison_row *row, u32 number,
				struct quantiles *quantiles)
{
	double sum = 0, squares = 0, lost = 0;
	u32 degrees_of_both;

	for (u32 i = BEFORE; i < COMPARISON_SIDES; i++) {
		double variance;
		const struct estimate *estimate = &sides[i].rows[number];
		double degrees = sides[i].degrees + sides[i].pooled_degrees;
		double joined = (sides[i].degrees * estimate->variance +
				 sides[i].pooled_degrees * sides[i].scatter * estimate->expected) /
				degrees;

		/* The variance of the row's rank, from its own scatter and the scatter of the
		 * median row. */
		variance = fmax(fmax(estimate->variance, joined),
				row->is_sampled ? estimate->expected : 0);
		sum += variance;
		squares += variance * variance / (sides[i].degrees + sides[i].pooled_degrees);
		lost += max_rank_of_lost_events(&sides[i], row->source);
	}
	if (sum <= 0)
		return lost;
	/* The quantile for the next smaller whole number of degrees makes the interval a little
	 * wider. */
	degrees_of_both = (u32)fmin(fmax(sum * sum / squares + ROUNDING, 1), DEGREES_MOST);
	if (!quantiles->of[degrees_of_both])
		quantiles->of[degrees_of_both] =
			student_quantile(quantiles->outside, degrees_of_both);
	return quantiles->of[degrees_of_both] * sqrt(sum) + lost;
}

int comparison_find_noise(const struct compared_list lists[COMPARISON_SIDES],
			  const struct compared_units units[COMPARISON_SIDES],
			  struct comparison *comparison)
{
	struct side_noise sides[COMPARISON_SIDES] = {};
	struct quantiles quantiles = {};
	u32 sources = units[BEFORE].source_count, rows = comparison->row_count, compared = 0;
	double *scale;
	int err = 0;

	if (units[BEFORE].count < 2 || units[AFTER].count < 2)
		return 0;
	scale = calloc(sources + 1UL, sizeof(*scale));
	if (!scale)
		return -ENOMEM;
	for (u32 source = 0; source < sources; source++)
		scale[source] = compared_amount_of_all(units, source);
	for (u32 i = BEFORE; i < COMPARISON_SIDES && !err; i++) {
		sides[i] =
			(struct side_noise){.list = &lists[i], .units = &units[i], .scale = scale};
		err = estimate_side_variances(&sides[i], comparison);
	}
	for (u32 row = 0; row < rows && !err; row++)
		compared += sides[BEFORE].rows[row].events + sides[AFTER].rows[row].events >=
			    EVENTS_LEAST;
	quantiles.outside = OUTSIDE / (compared ?: 1);
	for (u32 row = 0; row < rows && !err; row++)
		comparison->rows[row].noise =
			compute_row_noise(sides, &comparison->rows[row], row, &quantiles);
	for (u32 i = BEFORE; i < COMPARISON_SIDES; i++) {
		free(sides[i].residuals);
		free(sides[i].rows);
	}
	free(scale);
	return err;
}
