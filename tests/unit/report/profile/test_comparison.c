/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/profile/comparison.h"
#include "report/profile/comparison_noise.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

struct thing {
	const char *text;
	u64 count;
	u32 unit;
	bool is_sampled;
};

#define UNITS_MAX 48

static struct compared_list list_of(const struct thing *things, u32 count)
{
	struct compared_list list;

	assert_int_equal(compared_list_create(&list, count), 0);
	for (u32 i = 0; i < count; i++)
		list.items[i] = (struct compared_item){.text = strdup(things[i].text),
						       .unit = things[i].unit,
						       .is_sampled = things[i].is_sampled,
						       .count = things[i].count,
						       .part = things[i].count,
						       .amount = things[i].count};
	return list;
}

/* Each unit has `events` events of the only source. */
static void units_create(struct compared_units *units, u32 count, u64 events)
{
	*units = (struct compared_units){.count = count, .source_count = 1};
	units->wholes = calloc(count, sizeof(u64));
	units->amounts = calloc(1, sizeof(double));
	units->events = calloc(1, sizeof(u64));
	units->lost_of = calloc(1, sizeof(u64));
	assert_true(units->wholes && units->amounts && units->events && units->lost_of);
	for (u32 i = 0; i < count; i++)
		units->wholes[i] = events;
	units->amounts[0] = units->events[0] = count * events;
}

static void units_free(struct compared_units *units)
{
	free(units->wholes);
	free(units->amounts);
	free(units->lost_of);
	free(units->events);
	free(units->divisors);
}

static void check(const struct comparison_row *row, double before, double after, u64 counts[2])
{
	assert_true(row->share[BEFORE].percent == before);
	assert_true(row->share[AFTER].percent == after);
	assert_true(comparison_share_change(row) == after - before);
	assert_true(comparison_amount_change(row) ==
		    (double)counts[AFTER] - (double)counts[BEFORE]);
	assert_int_equal(row->share[BEFORE].count, counts[BEFORE]);
	assert_int_equal(row->share[AFTER].count, counts[AFTER]);
}

TEST(rows_of_equal_text_are_joined)
{
	static const struct thing before[] = {{"same", 1}, {"gone", 1}, {"less", 2}};
	static const struct thing after[] = {{"less", 1}, {"new", 4}, {"same", 1}, {"same", 2}};
	struct compared_list lists[] = {list_of(before, 3), list_of(after, 4)};
	struct compared_units units[COMPARISON_SIDES];
	struct comparison *comparison;

	units_create(&units[BEFORE], 1, 4);
	units_create(&units[AFTER], 1, 8);
	assert_int_equal(comparison_create(lists, units, &comparison), 0);
	assert_int_equal(comparison_find_noise(lists, units, comparison), 0);
	assert_int_equal(comparison->row_count, 4);
	check(&comparison->rows[0], 0, 50, (u64[]){0, 4});
	assert_int_equal(comparison->rows[0].side, AFTER);
	assert_int_equal(comparison->rows[0].index, 1);
	check(&comparison->rows[1], 50, 12.5, (u64[]){2, 1});
	assert_int_equal(comparison->rows[1].side, BEFORE);
	check(&comparison->rows[2], 25, 0, (u64[]){1, 0});
	check(&comparison->rows[3], 25, 37.5, (u64[]){1, 3});
	for (u32 i = 0; i < 4; i++) {
		assert_true(isnan(comparison->rows[i].noise));
		assert_true(comparison_is_beyond_noise(&comparison->rows[i]));
	}
	comparison_free(&comparison);
	assert_null(comparison);
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		compared_list_free(&lists[side]);
		units_free(&units[side]);
	}
}

TEST(lists_without_items_have_no_rows)
{
	struct compared_list lists[] = {list_of(NULL, 0), list_of(NULL, 0)};
	struct compared_units units[COMPARISON_SIDES];
	struct comparison *comparison;

	units_create(&units[BEFORE], 2, 0);
	units_create(&units[AFTER], 2, 0);
	assert_int_equal(comparison_create(lists, units, &comparison), 0);
	assert_int_equal(comparison_find_noise(lists, units, comparison), 0);
	assert_int_equal(comparison->row_count, 0);
	comparison_free(&comparison);
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		compared_list_free(&lists[side]);
		units_free(&units[side]);
	}
}

/* A fifth of the events was lost; the replaced events of the flight recorder came before the
 * others, and the events of the pause behind them. */
TEST(amounts_are_scaled_by_what_was_lost_meanwhile)
{
	struct trace_ledger ledger = {.recorded = 70,
				      .counted = 10,
				      .lost = {[LOST_RING_FULL] = 19,
					       [LOST_NESTED] = 1,
					       [LOST_OVERWRITTEN] = 1000,
					       [LOST_PAUSED] = 500}};

	assert_int_equal(count_lost_events_of_ledger(&ledger), 20);
	assert_true(scale_factor_of_lost_events(&ledger) == 1.25);
	ledger.recorded = ledger.counted = 0;
	assert_true(scale_factor_of_lost_events(&ledger) == 1);
	assert_int_equal(count_lost_events_of_ledger(NULL), 0);
	assert_true(scale_factor_of_lost_events(NULL) == 1);
}

/* The row "it" of a comparison: its counts in the units of both sides, of 1,000 events each. */
struct trial {
	u32 units[COMPARISON_SIDES];
	u64 counts[COMPARISON_SIDES][UNITS_MAX];
	bool are_slices, is_sampled, has_many_sources;
	u64 lost_of, lost, divisor_events; /* lost_of: known to be of the row's source */
	double divisor;			   /* of each unit; 0: none */
	double moved, noise;
};

static void compare(struct trial *trial)
{
	struct compared_list lists[COMPARISON_SIDES];
	struct compared_units units[COMPARISON_SIDES];
	struct comparison *comparison;

	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		struct thing things[UNITS_MAX];
		u32 count = trial->units[side];

		for (u32 i = 0; i < count; i++)
			things[i] =
				(struct thing){"it", trial->counts[side][i], i, trial->is_sampled};
		lists[side] = list_of(things, count);
		units_create(&units[side], count, 1000);
		units[side].are_slices = trial->are_slices;
		units[side].lost = side == AFTER ? trial->lost : 0;
		units[side].lost_of[0] = side == AFTER ? trial->lost_of : 0;
		units[side].has_many_sources = trial->has_many_sources;
		units[side].divisor_events = trial->divisor_events;
		units[side].divisors = trial->divisor ? calloc(count, sizeof(double)) : NULL;
		for (u32 i = 0; i < count && trial->divisor; i++)
			units[side].divisors[i] = trial->divisor;
	}
	assert_int_equal(comparison_create(lists, units, &comparison), 0);
	assert_int_equal(comparison_find_noise(lists, units, comparison), 0);
	assert_int_equal(comparison->row_count, 1);
	trial->moved = comparison_rank_change(&comparison->rows[0]);
	trial->noise = comparison->rows[0].noise;
	assert_int_equal(comparison_is_beyond_noise(&comparison->rows[0]),
			 fabs(trial->moved) > trial->noise);
	comparison_free(&comparison);
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		compared_list_free(&lists[side]);
		units_free(&units[side]);
	}
}

static bool is_near(double found, double expected)
{
	return fabs(found - expected) < 0.01 * expected;
}

TEST(the_scatter_of_recordings_is_noise)
{
	struct trial even = {.units = {3, 3}, .counts = {{500, 500, 500}, {510, 510, 510}}};
	struct trial apart = {.units = {3, 3}, .counts = {{480, 500, 520}, {490, 510, 530}}};

	compare(&even);
	assert_true(fabs(even.moved - 1) < 1e-9 && even.noise == 0);
	compare(&apart);
	/* Student's t test: 2.776 for 4 degrees of freedom, deviations of 2 points. */
	assert_true(fabs(apart.moved - 1) < 1e-9);
	assert_true(is_near(apart.noise, 2.776 * sqrt(2 * 4 / 3.0)));
}

TEST(two_recordings_have_a_wide_interval)
{
	struct trial two = {.units = {2, 2}, .counts = {{490, 510}, {590, 610}}};
	struct trial many = {.units = {2, 40}, .counts = {{490, 510}}};

	compare(&two);
	assert_true(is_near(two.noise, 4.303 * sqrt(2 * 2 / 2.0)));
	assert_true(two.moved > two.noise);
	for (u32 i = 0; i < 40; i++)
		many.counts[AFTER][i] = 600;
	compare(&many); /* 12.706 for one degree of freedom: the other side has no scatter */
	assert_true(is_near(many.noise, 12.706 * sqrt(2 / 2.0)));
}

/* A program whose first half is another one than its second half. */
TEST(phases_of_a_program_are_no_noise)
{
	struct trial slices = {.units = {48, 48}, .are_slices = true};
	struct trial units = {.units = {48, 48}};

	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++)
		for (u32 i = 0; i < 48; i++)
			slices.counts[side][i] = (i < 24 ? 100 : 900) + i % 2 + side * 50;
	memcpy(units.counts, slices.counts, sizeof(units.counts));
	compare(&slices);
	compare(&units);
	assert_true(slices.moved > slices.noise && slices.noise > 0);
	assert_true(units.moved < units.noise);
}

TEST(few_samples_scatter_by_chance)
{
	struct trial samples = {
		.units = {3, 3}, .counts = {{2, 2, 2}, {0, 0, 0}}, .is_sampled = true};
	struct trial calls = {.units = {3, 3}, .counts = {{2, 2, 2}, {0, 0, 0}}};

	compare(&samples);
	assert_true(fabs(samples.moved) < samples.noise);
	compare(&calls);
	assert_true(fabs(calls.moved) > calls.noise);
}

TEST(lost_events_may_have_been_of_any_row)
{
	struct trial whole = {.units = {3, 3}, .counts = {{480, 500, 520}, {490, 510, 530}}};
	struct trial lost = whole;

	lost.lost = 1000; /* beside 3,000 */
	compare(&whole);
	compare(&lost);
	assert_true(fabs(lost.noise - whole.noise - 25) < 1e-9);
}

/* 1,000 events are lost beside 3,000 of the row's source and 500 that divide: each amount may be a
 * third too small, and each divisor a third of what it was. */
TEST(lost_events_may_have_been_of_the_event_that_divides)
{
	struct trial whole = {.units = {3, 3},
			      .counts = {{480, 500, 520}, {490, 510, 530}},
			      .has_many_sources = true,
			      .divisor_events = 500,
			      .divisor = 10};
	struct trial lost = whole;

	lost.lost = 1000;
	compare(&whole);
	compare(&lost);
	assert_true(fabs(lost.noise - whole.noise - 100 * (1000. / 3000 + 1000. / 500)) < 1e-6);
}

/* The 1,000 lost events are of the row's source: they may be of any of its rows, and the divisor is
 * what it is. */
TEST(lost_events_of_a_known_source_leave_the_others_alone)
{
	struct trial whole = {.units = {3, 3},
			      .counts = {{480, 500, 520}, {490, 510, 530}},
			      .has_many_sources = true,
			      .divisor_events = 500,
			      .divisor = 10};
	struct trial known = whole, both = whole;

	known.lost_of = 1000;
	both.lost_of = 400;
	both.lost = 600;
	compare(&whole);
	compare(&known);
	compare(&both);
	assert_true(fabs(known.noise - whole.noise - 25) < 1e-6);
	assert_true(fabs(both.noise - whole.noise - 100 * (1000. / 3000 + 600. / 500)) < 1e-6);
}

/* Amounts for each 10 of another event, in percent of all amounts before: the same numbers here. */
TEST(divided_amounts_have_their_noise)
{
	struct trial shares = {.units = {3, 3}, .counts = {{480, 500, 520}, {490, 510, 530}}};
	struct trial amounts = shares;

	amounts.divisor = 10;
	compare(&shares);
	compare(&amounts);
	assert_true(fabs(shares.moved - amounts.moved) < 1e-9);
	assert_true(fabs(shares.noise - amounts.noise) < 1e-9);
}

/* A comparison of equal programs: rows of about 600 events in each recording. */
static bool does_equal_comparison_exceed_noise(u32 recordings, u32 rows)
{
	struct compared_list lists[COMPARISON_SIDES];
	struct compared_units units[COMPARISON_SIDES];
	struct comparison *comparison;
	bool found = false;

	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		u32 count = recordings * rows;

		assert_int_equal(compared_list_create(&lists[side], count), 0);
		units_create(&units[side], recordings, rows * 600);
		for (u32 i = 0; i < count; i++) {
			struct compared_item *item = &lists[side].items[i];

			item->text = malloc(16);
			assert_non_null(item->text);
			snprintf(item->text, 16, "%u", i % rows);
			item->unit = i / rows;
			for (u32 k = 0; k < 24; k++)
				item->count += (u64)random() % 50;
			item->part = item->amount = item->count;
		}
	}
	assert_int_equal(comparison_create(lists, units, &comparison), 0);
	assert_int_equal(comparison_find_noise(lists, units, comparison), 0);
	for (u32 i = 0; i < comparison->row_count; i++)
		found |= comparison_is_beyond_noise(&comparison->rows[i]);
	comparison_free(&comparison);
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		compared_list_free(&lists[side]);
		units_free(&units[side]);
	}
	return found;
}

/* 5 of 100 comparisons differ by design, and fewer where rows share what they know of scatter. */
TEST(equal_programs_rarely_differ)
{
	static const struct {
		u32 recordings, rows;
	} cases[] = {{2, 1}, {4, 1}, {2, 100}, {3, 100}, {10, 100}};

	srandom(1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		u32 beyond = 0;

		for (u32 run = 0; run < 300; run++)
			beyond += does_equal_comparison_exceed_noise(cases[i].recordings,
								     cases[i].rows);
		print_message("%u recordings, %u rows: %u of 300\n", cases[i].recordings,
			      cases[i].rows, beyond);
		assert_true(beyond <= 28); /* 15, and 3.4 standard deviations */
	}
}
