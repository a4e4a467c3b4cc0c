/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each source is weighed by itself, and the heaviest share of its source's total comes first. */
#include "report/profile/profile.h"

#include <string.h>

#include "unit_test.h"

enum { PLAIN, TIMED, WITHOUT_UNIT, UNUSED, SOURCES };

static const struct trace_source sources[SOURCES] = {
	[PLAIN] = {.name = "cpu-clock", .value_unit = ""},
	[TIMED] = {.name = "off-cpu", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
	[WITHOUT_UNIT] = {.name = "page", .extras = TRACE_EXTRA_VALUE, .value_unit = ""},
	[UNUSED] = {.name = "unused", .value_unit = ""},
};

/* By count, the rows of one source have 90 % and 10 %; by value, 10 % and 90 %. */
static struct profile_row rows[] = {
	{.kind = PLAIN, .comm = "plain", .count = 7},
	{.kind = TIMED, .comm = "often", .count = 9, .value = 20},
	{.kind = TIMED, .comm = "long", .count = 1, .value = 180},
	{.kind = WITHOUT_UNIT, .comm = "few", .count = 2, .value = 700},
	{.kind = WITHOUT_UNIT, .comm = "many", .count = 18, .value = 300},
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static struct profile_row *sorted[ROWS];

static u32 place_of(const char *comm)
{
	u32 i = 0;

	while (strcmp(sorted[i]->comm, comm) != 0)
		i++;
	return i;
}

static void weigh_profile_by_option(const char *by, struct profile_weights *weights)
{
	struct profile profile = {.row_count = ROWS, .rows = sorted};

	for (u32 i = 0; i < ROWS; i++)
		sorted[i] = &rows[i];
	assert_int_equal(profile_weigh(&profile, sources, SOURCES, by, weights), 0);
	assert_string_equal(sorted[0]->comm, "plain");
	assert_int_equal(weights->counts[PLAIN], 7);
	assert_int_equal(weights->counts[TIMED], 10);
	assert_int_equal(weights->counts[WITHOUT_UNIT], 20);
	assert_int_equal(weights->counts[UNUSED], 0);
}

static void check(const char *by, enum profile_weight timed, enum profile_weight without_unit)
{
	struct profile_weights weights;

	weigh_profile_by_option(by, &weights);
	assert_int_equal(weights.by[PLAIN], WEIGHT_COUNT);
	assert_int_equal(weights.by[TIMED], timed);
	assert_int_equal(weights.by[WITHOUT_UNIT], without_unit);
	assert_int_equal(weights.totals[PLAIN], 7);
	assert_int_equal(weights.totals[TIMED], timed == WEIGHT_VALUE ? 200 : 10);
	assert_int_equal(weights.totals[WITHOUT_UNIT], without_unit == WEIGHT_VALUE ? 1000 : 20);
	assert_int_equal(weights.totals[UNUSED], 0);
	assert_int_equal(place_of("long") < place_of("often"), timed == WEIGHT_VALUE);
	assert_int_equal(place_of("few") < place_of("many"), without_unit == WEIGHT_VALUE);
	profile_weights_clear(&weights);
	assert_null(weights.by);
}

TEST(values_count_where_they_have_a_unit)
{
	check(NULL, WEIGHT_VALUE, WEIGHT_COUNT);
}

TEST(the_weight_can_be_chosen)
{
	check("count", WEIGHT_COUNT, WEIGHT_COUNT);
	check("value", WEIGHT_VALUE, WEIGHT_VALUE);
}
