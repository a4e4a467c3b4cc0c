/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Distributions with known percentiles and histograms. */
#include "report/event/distribution.h"

#include "unit_test.h"

static struct distribution distribution;

static int clear(void **state)
{
	(void)state;
	distribution_clear(&distribution);
	return 0;
}

/* Adds first, first + step, ... below end, each once. */
static void add_range(u64 first, u64 end, u64 step)
{
	for (u64 value = first; value < end; value += step)
		assert_int_equal(distribution_add(&distribution, value, 1), 0);
}

static void assert_bucket(const struct histogram_bucket *bucket, u64 from, u64 to, u64 count)
{
	assert_int_equal(bucket->from, from);
	assert_int_equal(bucket->to, to);
	assert_int_equal(bucket->count, count);
}

TEST(equal_values_are_one_item, NULL, clear)
{
	for (u32 round = 0; round < 1000; round++)
		add_range(0, 10, 1);
	assert_true(distribution.room < 100);
	distribution_sort(&distribution);
	assert_int_equal(distribution.item_count, 10);
	assert_int_equal(distribution.count, 10000);
	assert_int_equal(distribution.sum, 45000);
	for (u32 i = 0; i < 10; i++) {
		assert_int_equal(distribution.items[i].value, i);
		assert_int_equal(distribution.items[i].count, 1000);
	}
}

TEST(a_sum_is_added_as_nearly_equal_values, NULL, clear)
{
	assert_int_equal(distribution_add_sum(&distribution, 17, 5), 0);
	assert_int_equal(distribution_add_sum(&distribution, 0, 0), 0);
	assert_int_equal(distribution_add_sum(&distribution, 9, 1), 0);
	distribution_sort(&distribution);
	assert_int_equal(distribution.count, 6);
	assert_int_equal(distribution.sum, 26);
	assert_int_equal(distribution.item_count, 3);
	assert_int_equal(distribution.items[0].value, 3);
	assert_int_equal(distribution.items[0].count, 3);
	assert_int_equal(distribution.items[1].value, 4);
	assert_int_equal(distribution.items[1].count, 2);
	assert_int_equal(distribution.items[2].value, 9);
}

TEST(percentiles_are_values_of_events, NULL, clear)
{
	add_range(1, 1001, 1);
	distribution_sort(&distribution);
	assert_int_equal(distribution_percentile(&distribution, 500), 500);
	assert_int_equal(distribution_percentile(&distribution, 900), 900);
	assert_int_equal(distribution_percentile(&distribution, 999), 999);
	assert_int_equal(distribution_percentile(&distribution, 1000), 1000);
	assert_int_equal(distribution_percentile(&distribution, 1), 1);
}

TEST(a_single_event_is_each_percentile, NULL, clear)
{
	assert_int_equal(distribution_add(&distribution, 42, 1), 0);
	distribution_sort(&distribution);
	assert_int_equal(distribution_percentile(&distribution, 1), 42);
	assert_int_equal(distribution_percentile(&distribution, 999), 42);
}

TEST(many_equal_events_hide_a_rare_one, NULL, clear)
{
	assert_int_equal(distribution_add(&distribution, 1, 999999), 0);
	assert_int_equal(distribution_add(&distribution, 1000, 1), 0);
	distribution_sort(&distribution);
	assert_int_equal(distribution_percentile(&distribution, 999), 1);
	assert_int_equal(distribution_percentile(&distribution, 1000), 1000);
}

TEST(log2_buckets_double, NULL, clear)
{
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];

	add_range(0, 20, 1);
	distribution_sort(&distribution);
	assert_int_equal(distribution_histogram(&distribution, HISTOGRAM_LOG2, buckets), 6);
	assert_bucket(&buckets[0], 0, 0, 1);
	assert_bucket(&buckets[1], 1, 1, 1);
	assert_bucket(&buckets[2], 2, 3, 2);
	assert_bucket(&buckets[3], 4, 7, 4);
	assert_bucket(&buckets[4], 8, 15, 8);
	assert_bucket(&buckets[5], 16, 31, 4);
}

TEST(the_whole_range_has_65_log2_buckets, NULL, clear)
{
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];

	assert_int_equal(distribution_add(&distribution, 0, 1), 0);
	assert_int_equal(distribution_add(&distribution, UINT64_MAX, 3), 0);
	distribution_sort(&distribution);
	assert_int_equal(distribution.sum, UINT64_MAX);
	assert_int_equal(distribution_histogram(&distribution, HISTOGRAM_LOG2, buckets), 65);
	assert_bucket(&buckets[64], 1ULL << 63, UINT64_MAX, 3);
}

TEST(empty_buckets_between_are_shown, NULL, clear)
{
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];

	assert_int_equal(distribution_add(&distribution, 5, 2), 0);
	assert_int_equal(distribution_add(&distribution, 40, 1), 0);
	distribution_sort(&distribution);
	assert_int_equal(distribution_histogram(&distribution, HISTOGRAM_LOG2, buckets), 4);
	assert_bucket(&buckets[0], 4, 7, 2);
	assert_bucket(&buckets[1], 8, 15, 0);
	assert_bucket(&buckets[2], 16, 31, 0);
	assert_bucket(&buckets[3], 32, 63, 1);
}

TEST(linear_buckets_have_round_widths, NULL, clear)
{
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];

	add_range(0, 1000, 1);
	distribution_sort(&distribution);
	assert_int_equal(distribution_histogram(&distribution, HISTOGRAM_LINEAR, buckets), 20);
	for (u32 i = 0; i < 20; i++)
		assert_bucket(&buckets[i], 50 * i, 50 * i + 49, 50);
	distribution_clear(&distribution);
	add_range(1003, 1017, 2);
	distribution_sort(&distribution);
	assert_int_equal(distribution_histogram(&distribution, HISTOGRAM_LINEAR, buckets), 13);
	assert_bucket(&buckets[0], 1003, 1003, 1);
	assert_bucket(&buckets[1], 1004, 1004, 0);
}

TEST(linear_buckets_hold_the_largest_values, NULL, clear)
{
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];
	u64 events = 0;
	u32 count;

	assert_int_equal(distribution_add(&distribution, 0, 1), 0);
	assert_int_equal(distribution_add(&distribution, UINT64_MAX, 1), 0);
	distribution_sort(&distribution);
	count = distribution_histogram(&distribution, HISTOGRAM_LINEAR, buckets);
	assert_true(count <= HISTOGRAM_LINEAR_BUCKETS);
	for (u32 i = 0; i < count; i++)
		events += buckets[i].count;
	assert_int_equal(events, 2);
}

TEST(distributions_add_up, NULL, clear)
{
	struct distribution other = {};

	add_range(0, 10, 1);
	for (u64 value = 5; value < 15; value++)
		assert_int_equal(distribution_add(&other, value, 2), 0);
	assert_int_equal(distribution_merge(&distribution, &other), 0);
	distribution_clear(&other);
	distribution_sort(&distribution);
	assert_int_equal(distribution.item_count, 15);
	assert_int_equal(distribution.count, 30);
	assert_int_equal(distribution.sum, 45 + 190);
	assert_int_equal(distribution.items[7].count, 3);
}

TEST(the_sum_of_rounded_values_is_that_of_the_exact_ones, NULL, clear)
{
	struct distribution sum = {};

	add_range(1000, 3000, 1);
	distribution_round(&distribution, 3);
	assert_int_equal(distribution_add(&sum, 1, 1), 0);
	assert_int_equal(distribution_merge(&sum, &distribution), 0);
	assert_int_equal(sum.sum, 3999001);
	assert_int_equal(sum.count, 2001);
	distribution_clear(&sum);
}

TEST(rounded_values_stay_in_their_buckets, NULL, clear)
{
	struct histogram_bucket exact[HISTOGRAM_BUCKETS_MAX], rounded[HISTOGRAM_BUCKETS_MAX];
	u32 count;

	add_range(0, 100000, 7);
	assert_int_equal(distribution_add(&distribution, UINT64_MAX, 3), 0);
	distribution_sort(&distribution);
	count = distribution_histogram(&distribution, HISTOGRAM_LOG2, exact);
	for (u32 digits = 8; digits; digits--) {
		u64 sum = distribution.sum, events = distribution.count;

		distribution_round(&distribution, digits);
		assert_true(distribution.item_count < 65U << (digits - 1));
		assert_int_equal(distribution.sum, sum);
		assert_int_equal(distribution.count, events);
		assert_int_equal(distribution_histogram(&distribution, HISTOGRAM_LOG2, rounded),
				 count);
		for (u32 i = 0; i < count; i++)
			assert_bucket(&rounded[i], exact[i].from, exact[i].to, exact[i].count);
	}
}
