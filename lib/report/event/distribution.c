/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "distribution.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "array.h"
#include "order.h"

static int compare_values_of_items(const void *a, const void *b)
{
	const struct value_count *left = a, *right = b;

	return order(left->value, right->value);
}

void distribution_sort(struct distribution *distribution)
{
	struct value_count *items = distribution->items;
	u32 joined = 0;

	if (!distribution->item_count)
		return;
	qsort(items, distribution->item_count, sizeof(*items), compare_values_of_items);
	for (u32 i = 1; i < distribution->item_count; i++) {
		if (items[i].value == items[joined].value)
			items[joined].count += items[i].count;
		else
			items[++joined] = items[i];
	}
	distribution->item_count = joined + 1;
}

int distribution_add(struct distribution *distribution, u64 value, u64 count)
{
	u64 sum;

	if (!count)
		return 0;
	/* Joins equal values when the array is full. The array then has twice the room of the
	 * values that are left, so each value is sorted a bounded number of times. */
	if (distribution->item_count == distribution->room) {
		distribution_sort(distribution);
		if (array_make_rooms(distribution->items, 2UL * distribution->item_count + 1,
				     distribution->room))
			return -ENOMEM;
	}
	distribution->items[distribution->item_count++] =
		(struct value_count){.value = value, .count = count};
	distribution->count += count;
	if (__builtin_mul_overflow(value, count, &sum) ||
	    __builtin_add_overflow(distribution->sum, sum, &distribution->sum))
		distribution->sum = UINT64_MAX;
	return 0;
}

int distribution_add_sum(struct distribution *distribution, u64 sum, u64 count)
{
	u64 greater = count ? sum % count : 0;
	int err = distribution_add(distribution, count ? sum / count : 0, count - greater);

	return err ?: distribution_add(distribution, count ? sum / count + 1 : 0, greater);
}

int distribution_merge(struct distribution *distribution, const struct distribution *other)
{
	u64 sum;
	int err = 0;

	if (__builtin_add_overflow(distribution->sum, other->sum, &sum))
		sum = UINT64_MAX;
	for (u32 i = 0; i < other->item_count && !err; i++)
		err = distribution_add(distribution, other->items[i].value, other->items[i].count);
	if (!err)
		/* the sum stays exact even if `other` has rounded values */
		distribution->sum = sum;
	return err;
}

void distribution_clear(struct distribution *distribution)
{
	free(distribution->items);
	*distribution = (struct distribution){};
}

u64 distribution_percentile(const struct distribution *distribution, u32 permille)
{
	u64 whole = distribution->count / 1000, part = distribution->count % 1000;
	u64 rank = whole * permille + (part * permille + 999) / 1000, passed = 0;
	u32 i = 0;

	while (i + 1 < distribution->item_count) {
		passed += distribution->items[i].count;
		if (passed >= rank)
			break;
		i++;
	}
	return distribution->items[i].value;
}

/* The least width of 1, 2, 5, 10, 20, 50... with which HISTOGRAM_LINEAR_BUCKETS buckets cover all
 * values. */
static u64 choose_linear_width(u64 least, u64 most)
{
	static const u64 steps[] = {1, 2, 5};
	u64 width = 1;

	for (u64 power = 1;; power *= 10)
		for (u32 i = 0; i < 3; i++) {
			if (__builtin_mul_overflow(power, steps[i], &width))
				return 1ULL << 63;
			if (most / width - least / width < HISTOGRAM_LINEAR_BUCKETS)
				return width;
		}
}

static u32 log2_bucket(u64 value)
{
	return value ? 64 - (u32)__builtin_clzll(value) : 0;
}

void distribution_round(struct distribution *distribution, u32 digits)
{
	for (u32 i = 0; i < distribution->item_count; i++) {
		u32 length = log2_bucket(distribution->items[i].value);

		if (length > digits)
			distribution->items[i].value &= UINT64_MAX << (length - digits);
	}
	distribution_sort(distribution);
}

u32 distribution_histogram(const struct distribution *distribution, enum histogram_scale scale,
			   struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX])
{
	const struct value_count *items = distribution->items;
	bool is_log2 = scale == HISTOGRAM_LOG2;
	u64 width = 0, first, most;
	u32 count;

	if (!distribution->item_count)
		return 0;
	most = items[distribution->item_count - 1].value;
	if (!is_log2)
		width = choose_linear_width(items[0].value, most);
	first = is_log2 ? log2_bucket(items[0].value) : items[0].value / width;
	count = (u32)((is_log2 ? log2_bucket(most) : most / width) - first) + 1;
	for (u32 i = 0; i < count; i++) {
		u64 from = (first + i) * width, last = width - 1;

		/* A log2 bucket is as wide as its lowest value. The first bucket holds only the
		 * value 0. */
		if (is_log2) {
			from = first + i ? 1ULL << (first + i - 1) : 0;
			last = from ? from - 1 : 0;
		}
		buckets[i] = (struct histogram_bucket){.from = from, .to = from + last};
	}
	for (u32 i = 0; i < distribution->item_count; i++) {
		u64 index = is_log2 ? log2_bucket(items[i].value) : items[i].value / width;

		buckets[index - first].count += items[i].count;
	}
	return count;
}
