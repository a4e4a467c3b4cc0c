/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Durations and instants in words. */
#include "session/duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/trigger.h"
#include "unit_test.h"

#define NOW 1764331200ULL /* 2025-11-28T12:00:00Z */
#define DAY 86400ULL

TEST(durations_have_a_unit)
{
	static const struct {
		const char *word;
		u64 ms;
	} words[] = {{"500ms", 500}, {"5s", 5000}, {"10min", 600000}, {"2h", 7200000}};
	static const char *const wrong[] = {"", "s", "5", "0s", "-5s", "1.5s", "5 s", "5d", "5sx"};
	u64 ms = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(duration_parse_ms(wrong[i], &ms));
	assert_int_equal(ms, 7);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_true(duration_parse_ms(words[i].word, &ms));
		assert_int_equal(ms, words[i].ms);
	}
}

TEST(a_delay_is_a_number_of_ns)
{
	struct stackmap_error error;
	u64 ns = 7;

	assert_int_equal(trigger_parse_delay("2h", &ns, &error), 0);
	assert_int_equal(ns, 7200 * 1000000000ULL);
	assert_int_equal(trigger_parse_delay(NULL, &ns, &error), 0);
	assert_int_equal(ns, 0);
	assert_int_equal(trigger_parse_delay("4294967295h", &ns, &error), -EINVAL);
	assert_int_equal(ns, 0);
}

static void assert_instant(const char *word, u64 seconds)
{
	struct stackmap_error error = {};
	u64 instant = 0;

	if (instant_parse(word, NOW, &instant, &error))
		fail_msg("%s", error.message);
	assert_int_equal(instant, seconds * 1000000000);
}

TEST(an_instant_in_utc_is_the_next_of_its_name)
{
	assert_instant("12:00:01Z", NOW + 1);
	assert_instant("12:01Z", NOW + 60);
	assert_instant("12:00Z", NOW + DAY);
	assert_instant("11:59:59Z", NOW + DAY - 1);
	assert_instant("2025-12-31T12:00Z", NOW + 33 * DAY);
	assert_instant("2025-11-28T12:00:01Z", NOW + 1);
}

/* A rule of summer time, so that the test needs no files of time zones. */
TEST(an_instant_without_z_is_of_the_time_zone)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_instant("13:00:01", NOW + 1);
	assert_instant("12:30", NOW + DAY - 1800);
	assert_instant("2026-07-01T14:00", NOW + 215 * DAY);
	unsetenv("TZ");
	tzset();
}

TEST(other_words_and_instants_that_have_passed_are_refused)
{
	static const char *const wrong[] = {"",	     "Z",	   "12",     "24:00",
					    "12:60", "noon",	   "12:00z", "12:00 Z",
					    "+1h",   "2025-12-31", "12:00ZZ"};
	struct stackmap_error error;
	u64 instant = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(instant_parse(wrong[i], NOW, &instant, &error), -EINVAL);
	assert_int_equal(instant_parse("2025-11-28T12:00Z", NOW, &instant, &error), -ERANGE);
	assert_int_equal(instant_parse("1999-01-01T00:00:00", NOW, &instant, &error), -ERANGE);
	assert_int_equal(instant_parse("2600-01-01T00:00Z", NOW, &instant, &error), -ERANGE);
	assert_int_equal(instant, 7);
}
