/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adding words to the list, with sources that exist on every machine: software events, system
 * calls, this program's own functions. The sources that a word adds, the sources that two words
 * share, and a failure, which leaves the list unchanged.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#include "capture/source/source.h"
#include "ring.h"
#include "unit_test.h"

static struct source_list list;
static struct stackmap_error error;

static int clear_source_list(void **state)
{
	(void)state;
	source_list_clear(&list);
	memset(&error, 0, sizeof(error));
	return 0;
}

TEST(software_events_have_a_period, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "faults", 99, &error), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.sources[0].type, SOURCE_PERF);
	assert_string_equal(list.sources[0].name, "page-faults");
	assert_int_equal(list.sources[0].perf_type, PERF_TYPE_SOFTWARE);
	assert_int_equal(list.sources[0].perf_config[0], PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(list.sources[0].period, 1);
	assert_int_equal(list.sources[0].frequency, 0);
}

TEST(clocks_have_a_frequency, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "cpu-clock", 99, &error), 0);
	assert_int_equal(source_list_add(&list, "task-clock/1000000", 99, &error), 0);
	assert_int_equal(list.sources[0].type, SOURCE_SAMPLE);
	assert_int_equal(list.sources[0].frequency, 99);
	assert_int_equal(list.sources[0].period, 0);
	assert_int_equal(list.sources[1].frequency, 0);
	assert_int_equal(list.sources[1].period, 1000000);
}

TEST(words_are_separated_by_commas, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "cs,migrations,cs,context-switches", 0, &error), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.sources[0].name, "context-switches");
	assert_string_equal(list.sources[1].name, "cpu-migrations");
}

TEST(sources_with_the_same_counter_share_it, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list,
					 "page-faults/value=+task-clock/,"
					 "cpu-clock/value=+minor-faults,if=pid>1/,"
					 "minor-faults/value=+task-clock:u:ns/,"
					 "major-faults/value=+task-clock/",
					 0, &error),
			 0);
	assert_int_equal(list.count, 4);
	assert_int_equal(list.sources[0].question.counter, 1);
	assert_int_equal(list.sources[1].question.counter, 2);
	assert_int_equal(list.sources[1].question.count, 1);
	assert_int_equal(list.sources[2].question.counter, 3);
	assert_int_equal(list.sources[3].question.counter, 1);
	assert_int_equal(source_list_add(&list, "cs/value=+cs/", 0, &error), 0);
	assert_int_equal(source_list_add(&list, "migrations/value=+migrations/", 0, &error),
			 -ENOSPC);
}

TEST(a_failure_adds_nothing, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "cs", 0, &error), 0);
	assert_int_equal(source_list_add(&list, "faults,nosuch", 0, &error), -ENOENT);
	assert_string_equal(error.message, "-e nosuch: no such event; see 'stackmap list'");
	assert_int_equal(list.count, 1);
	assert_string_equal(list.sources[0].name, "context-switches");
}

TEST(the_nearest_event_is_named, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "page-fualts", 0, &error), -ENOENT);
	assert_string_equal(error.message,
			    "-e page-fualts: no such event; did you mean page-faults?");
}

TEST(a_glob_that_matches_nothing_is_an_error, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "nosuch*", 0, &error), -ENOENT);
	assert_non_null(strstr(error.message, "-e nosuch*: no event matches"));
	assert_int_equal(list.count, 0);
}

TEST(the_list_has_a_limit, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "cs", 0, &error), 0);
	assert_int_equal(source_list_add(&list, "k:*", 0, &error), -E2BIG);
	assert_string_equal(error.message, "-e k:*: more than 1000 event sources");
	assert_int_equal(list.count, 1);
}

TEST(sample_rates_have_a_range, NULL, clear_source_list)
{
	static const u64 wrong[] = {0, 1ULL << 32, UINT64_MAX};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memset(&error, 0, sizeof(error));
		assert_int_equal(source_list_add_sample(&list, wrong[i], &error), -ERANGE);
		assert_non_null(strstr(error.message, ": the range is 1 to "));
	}
	assert_int_equal(list.count, 0);
	assert_int_equal(source_list_add_sample(&list, 1, &error), 0);
	assert_int_equal(list.sources[0].type, SOURCE_SAMPLE);
	assert_int_equal(list.sources[0].frequency, 1);
}

TEST(a_rate_out_of_range_fails_for_clocks_by_name, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "cpu-clock", UINT64_MAX, &error), -ERANGE);
	assert_int_equal(list.count, 0);
}

TEST(the_error_may_be_left_out, NULL, clear_source_list)
{
	assert_int_equal(source_list_add(&list, "nosuch", 0, NULL), -ENOENT);
	assert_int_equal(source_list_add_sample(&list, 0, NULL), -ERANGE);
}

static int count_name(void *arg, const char *group, const char *name)
{
	assert_string_equal(group, "perf event");
	assert_string_equal(name, "context-switches");
	++*(int *)arg;
	return 0;
}

static int stop_early(void *arg, const char *group, const char *name)
{
	(void)group;
	(void)name;
	++*(int *)arg;
	return 7;
}

TEST(the_catalogue_takes_the_same_words, NULL, clear_source_list)
{
	int count = 0;

	assert_int_equal(source_catalogue_each("context-*", count_name, &count, &error), 0);
	assert_int_equal(count, 1);
	assert_int_equal(source_catalogue_each("nosuch*", count_name, &count, &error), -ENOENT);
	assert_string_equal(error.message, "nosuch*: no event matches");
}

TEST(the_catalogue_stops_on_demand, NULL, clear_source_list)
{
	int count = 0;

	assert_int_equal(source_catalogue_each(NULL, stop_early, &count, &error), 7);
	assert_int_equal(count, 1);
}
