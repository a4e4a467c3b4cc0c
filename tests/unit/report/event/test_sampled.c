/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sources whose events are a sample, by their names, and the error of their sums. */
#include "report/profile/profile.h"
#include "unit_test.h"

TEST(names_of_samples)
{
	assert_int_equal(
		read_sampling_period_of_source("alive:ur:/x/libc.so.6:malloc/every=524288/"),
		524288);
	assert_int_equal(read_sampling_period_of_source("alive:u:/every=1/f:g/every=4294967295/"),
			 4294967295);
	assert_int_equal(read_sampling_period_of_source("alive:ur:/x/libc.so.6:malloc"), 0);
	assert_int_equal(read_sampling_period_of_source("u:/every=1/"), 0);
	assert_int_equal(read_sampling_period_of_source("alive:u:/every=1/f:g"), 0);
	assert_int_equal(read_sampling_period_of_source("alive:u:f:g/every=/"), 0);
	assert_int_equal(read_sampling_period_of_source("alive:u:f:g/every=4294967296/"), 0);
	assert_int_equal(
		read_sampling_period_of_source("alive:u:f:g/every=99999999999999999999999/"), 0);
	assert_int_equal(read_sampling_period_of_source(""), 0);
}

TEST(events_that_are_estimates)
{
	struct trace_event event = {.value = 512};

	assert_int_equal(count_estimated_events(0, &event), 0);
	assert_int_equal(count_estimated_events(512, &event), 1);
	event.value = 513;
	assert_int_equal(count_estimated_events(512, &event), 0);
	event.repeats = 4;
	assert_int_equal(count_estimated_events(512, &event), 5);
}

TEST(error_of_a_sum)
{
	assert_int_equal(estimate_error_of_sampled_sum(512, 0), 0);
	assert_int_equal(estimate_error_of_sampled_sum(512, 1), 512);
	assert_int_equal(estimate_error_of_sampled_sum(512, 100), 5120);
	assert_int_equal(estimate_error_of_sampled_sum(10, 2), 15);
}
