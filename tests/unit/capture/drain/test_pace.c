/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When the rings are visited again. */

#include "capture/drain/pace.h"

#include <stdint.h>

#include "unit_test.h"

#define VISITS 20

static int after_visits(struct pace *pace, u32 fill)
{
	int ms = 0;

	for (int i = 0; i < VISITS; i++)
		ms = pace_next(pace, fill);
	return ms;
}

TEST(empty_rings_are_visited_seldom)
{
	struct pace pace = {};

	assert_int_equal(pace_next(&pace, 0), 2 * PACE_MS_MIN);
	assert_int_equal(after_visits(&pace, 0), PACE_MS_MAX);
}

TEST(full_rings_are_visited_often)
{
	struct pace pace = {.ms = PACE_MS_MAX};

	assert_int_equal(pace_next(&pace, 26), PACE_MS_MAX / 2);
	assert_int_equal(after_visits(&pace, 100), PACE_MS_MIN);
}

TEST(in_between_it_stays)
{
	struct pace pace = {.ms = 40};

	assert_int_equal(after_visits(&pace, 15), 40);
}

TEST(a_table_is_watched_for)
{
	struct pace pace = {.ms = PACE_MS_MAX};

	pace_await_table(&pace);
	assert_int_equal(pace_next(&pace, 0), PACE_MS_WATCH);
	pace.watch_until = UINT64_MAX;
	pace_await_table(&pace);
	assert_int_equal(pace.watch_until, UINT64_MAX);
}

TEST(new_code_is_watched_for)
{
	struct pace pace = {.ms = PACE_MS_MAX};

	pace_meet_code(&pace);
	assert_int_equal(pace_next(&pace, 0), PACE_MS_WATCH);
	assert_int_equal(after_visits(&pace, 0), PACE_MS_WATCH);
	assert_int_equal(after_visits(&pace, 100), PACE_MS_MIN);
	pace.watch_until = 0;
	assert_int_equal(after_visits(&pace, 0), PACE_MS_MAX);
}
