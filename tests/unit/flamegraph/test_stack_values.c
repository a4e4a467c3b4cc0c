/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page has exact, rounded or no values, depending on the number of different values. */
#include "flamegraph/time_cells.h"

#include "unit_test.h"

static struct stack_values values;

static int begin(void **state)
{
	(void)state;
	stack_values_init(&values);
	return 0;
}

static int end(void **state)
{
	(void)state;
	stack_values_clear(&values);
	return 0;
}

static void add(u32 user, u64 value)
{
	const struct time_cell cell = {.user = user, .count = 1, .value = value};

	assert_int_equal(stack_values_add(&values, NULL, &cell), 0);
}

static u64 events_of(u32 index)
{
	const struct distribution *of = &stack_values_at(&values, index)->values;
	u64 events = 0;

	for (u32 i = 0; i < of->item_count; i++)
		events += of->items[i].count;
	return events;
}

TEST(few_values_are_exact, begin, end)
{
	for (u32 i = 0; i < 1000; i++)
		add(i % 2, 1000000 + i / 2);
	stack_values_finish(&values);
	assert_int_equal(values.stacks.count, 2);
	assert_int_equal(values.digits, DISTRIBUTION_DIGITS_EXACT);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(stack_values_at(&values, i)->values.item_count, 500);
		assert_int_equal(events_of(i), 500);
	}
}

TEST(many_values_are_rounded, begin, end)
{
	u64 sum = 0;

	for (u32 i = 0; i < 3 * VALUES_KEPT_MAX / 2; i++) {
		add(i % 4, i);
		sum += i;
	}
	stack_values_finish(&values);
	assert_true(values.digits > 0 && values.digits < DISTRIBUTION_DIGITS_EXACT);
	for (u32 i = 0; i < 4; i++) {
		const struct distribution *of = &stack_values_at(&values, i)->values;

		assert_true(of->item_count < VALUES_MAX);
		assert_int_equal(events_of(i), 3 * VALUES_KEPT_MAX / 8);
		sum -= of->sum;
	}
	assert_int_equal(sum, 0);
}

TEST(too_many_stacks_have_none, begin, end)
{
	for (u32 i = 0; i <= VALUES_MAX; i++)
		add(i, 1);
	stack_values_finish(&values);
	assert_int_equal(values.stacks.count, 0);
	assert_int_equal(values.digits, 0);
}

TEST_GROUP(NULL, NULL)
