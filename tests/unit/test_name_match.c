/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Known edit distances, and the name that is suggested out of several. */
#include <stdint.h>
#include <string.h>

#include "name_match.h"
#include "unit_test.h"

TEST(distance_counts_edits)
{
	static const struct {
		const char *a, *b;
		u32 distance;
	} cases[] = {
		{"", "", 0},	   {"abc", "abc", 0},	     {"abc", "abxc", 1}, {"abxc", "abc", 1},
		{"abc", "adc", 1}, {"abcd", "abdc", 1},	     {"abc", "", 3},	 {"", "abc", 3},
		{"abc", "bca", 2}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(name_distance(cases[i].a, cases[i].b, 100), cases[i].distance);
}

TEST(distance_stops_at_limit)
{
	assert_int_equal(name_distance("kitten", "sitting", 3), 3);
	assert_int_equal(name_distance("kitten", "sitting", 2), 2);
	assert_int_equal(name_distance("kitten", "sitting", 4), 3);
	assert_int_equal(name_distance("a", "aaaaaaaaaa", 3), 3);
}

TEST(distance_of_long_names_is_the_limit)
{
	char name[NAME_NEAREST_BYTES + 1];

	memset(name, 'x', NAME_NEAREST_BYTES);
	name[NAME_NEAREST_BYTES] = '\0';
	assert_int_equal(name_distance(name, name, 5), 5);
	assert_int_equal(name_distance(name + 1, name + 1, 5), 0);
}

TEST(a_name_matches_itself_only)
{
	struct name_match match;

	name_match_init(&match, "sched_switch");
	assert_false(name_match_compare_name(&match, "sched_switc"));
	assert_true(name_match_compare_name(&match, "sched_switch"));
	assert_int_equal(match.found, 1);
}

TEST(a_glob_matches_many_and_has_no_nearest)
{
	struct name_match match;

	name_match_init(&match, "kmem:*[ae]");
	assert_true(name_match_compare_name(&match, "kmem:kfree"));
	assert_true(name_match_compare_name(&match, "kmem:area"));
	assert_false(name_match_compare_name(&match, "kmem:kmalloc"));
	assert_int_equal(match.found, 2);
	assert_string_equal(match.nearest, "");
}

TEST(the_nearest_name_is_kept)
{
	struct name_match match;

	name_match_init(&match, "sched:sched_swich");
	assert_false(name_match_compare_name(&match, "sched:sched_stick"));
	assert_false(name_match_compare_name(&match, "sched:sched_switch"));
	assert_false(name_match_compare_name(&match, "sched:sched_switches"));
	assert_string_equal(match.nearest, "sched:sched_switch");
}

TEST(a_far_name_is_not_offered)
{
	struct name_match match;

	name_match_init(&match, "foo");
	assert_false(name_match_compare_name(&match, "bar"));
	assert_false(name_match_compare_name(&match, "b"));
	assert_string_equal(match.nearest, "");
}

TEST(the_category_may_be_missing)
{
	struct name_match match;

	name_match_init(&match, "sched_switch");
	assert_false(name_match_compare_name(&match, "sched:sched_switch"));
	assert_string_equal(match.nearest, "sched:sched_switch");
}
