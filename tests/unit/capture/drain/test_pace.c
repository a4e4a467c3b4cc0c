/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When the rings are visited again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "capture/drain/pace.h"

#define VISITS 20

static int after_visits(struct pace *pace, u32 fill)
{
	int ms = 0;

	for (int i = 0; i < VISITS; i++)
		ms = pace_next(pace, fill);
	return ms;
}

static void test_empty_rings_are_visited_seldom(void **state)
{
	struct pace pace = {};

	(void)state;
	assert_int_equal(pace_next(&pace, 0), 2 * PACE_MS_MIN);
	assert_int_equal(after_visits(&pace, 0), PACE_MS_MAX);
}

static void test_full_rings_are_visited_often(void **state)
{
	struct pace pace = {.ms = PACE_MS_MAX};

	(void)state;
	assert_int_equal(pace_next(&pace, 26), PACE_MS_MAX / 2);
	assert_int_equal(after_visits(&pace, 100), PACE_MS_MIN);
}

static void test_in_between_it_stays(void **state)
{
	struct pace pace = {.ms = 40};

	(void)state;
	assert_int_equal(after_visits(&pace, 15), 40);
}

static void test_new_code_is_watched_for(void **state)
{
	struct pace pace = {.ms = PACE_MS_MAX};

	(void)state;
	pace_meet_code(&pace);
	assert_int_equal(pace_next(&pace, 0), PACE_MS_WATCH);
	assert_int_equal(after_visits(&pace, 0), PACE_MS_WATCH);
	assert_int_equal(after_visits(&pace, 100), PACE_MS_MIN);
	pace.watch_until = 0;
	assert_int_equal(after_visits(&pace, 0), PACE_MS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_rings_are_visited_seldom),
		cmocka_unit_test(test_full_rings_are_visited_often),
		cmocka_unit_test(test_in_between_it_stays),
		cmocka_unit_test(test_new_code_is_watched_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
