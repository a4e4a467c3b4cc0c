/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Edit distances worked out by hand, and which of several names is offered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "name_match.h"

static void distance_counts_edits(void **state)
{
	static const struct {
		const char *a, *b;
		u32 distance;
	} cases[] = {
		{"", "", 0},	   {"abc", "abc", 0},	     {"abc", "abxc", 1}, {"abxc", "abc", 1},
		{"abc", "adc", 1}, {"abcd", "abdc", 1},	     {"abc", "", 3},	 {"", "abc", 3},
		{"abc", "bca", 2}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(name_distance(cases[i].a, cases[i].b, 100), cases[i].distance);
}

static void distance_stops_at_limit(void **state)
{
	(void)state;
	assert_int_equal(name_distance("kitten", "sitting", 3), 3);
	assert_int_equal(name_distance("kitten", "sitting", 2), 2);
	assert_int_equal(name_distance("kitten", "sitting", 4), 3);
	assert_int_equal(name_distance("a", "aaaaaaaaaa", 3), 3);
}

static void distance_of_long_names_is_the_limit(void **state)
{
	char name[NAME_NEAREST_BYTES + 1];

	(void)state;
	memset(name, 'x', NAME_NEAREST_BYTES);
	name[NAME_NEAREST_BYTES] = '\0';
	assert_int_equal(name_distance(name, name, 5), 5);
	assert_int_equal(name_distance(name + 1, name + 1, 5), 0);
}

static void a_name_matches_itself_only(void **state)
{
	struct name_match match;

	(void)state;
	name_match_init(&match, "sched_switch");
	assert_false(name_match_try(&match, "sched_switc"));
	assert_true(name_match_try(&match, "sched_switch"));
	assert_int_equal(match.found, 1);
}

static void a_glob_matches_many_and_has_no_nearest(void **state)
{
	struct name_match match;

	(void)state;
	name_match_init(&match, "kmem:*[ae]");
	assert_true(name_match_try(&match, "kmem:kfree"));
	assert_true(name_match_try(&match, "kmem:area"));
	assert_false(name_match_try(&match, "kmem:kmalloc"));
	assert_int_equal(match.found, 2);
	assert_string_equal(match.nearest, "");
}

static void the_nearest_name_is_kept(void **state)
{
	struct name_match match;

	(void)state;
	name_match_init(&match, "sched:sched_swich");
	assert_false(name_match_try(&match, "sched:sched_stick"));
	assert_false(name_match_try(&match, "sched:sched_switch"));
	assert_false(name_match_try(&match, "sched:sched_switches"));
	assert_string_equal(match.nearest, "sched:sched_switch");
}

static void a_far_name_is_not_offered(void **state)
{
	struct name_match match;

	(void)state;
	name_match_init(&match, "foo");
	assert_false(name_match_try(&match, "bar"));
	assert_false(name_match_try(&match, "b"));
	assert_string_equal(match.nearest, "");
}

static void the_category_may_be_missing(void **state)
{
	struct name_match match;

	(void)state;
	name_match_init(&match, "sched_switch");
	assert_false(name_match_try(&match, "sched:sched_switch"));
	assert_string_equal(match.nearest, "sched:sched_switch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance_counts_edits),
		cmocka_unit_test(distance_stops_at_limit),
		cmocka_unit_test(distance_of_long_names_is_the_limit),
		cmocka_unit_test(a_name_matches_itself_only),
		cmocka_unit_test(a_glob_matches_many_and_has_no_nearest),
		cmocka_unit_test(the_nearest_name_is_kept),
		cmocka_unit_test(a_far_name_is_not_offered),
		cmocka_unit_test(the_category_may_be_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
