/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A writer adds values in ascending order, so the reader knows each value that it takes. */
#include "counted_row.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define EVENTS 300000

static struct counted_row row;
static struct counted_range range;
static struct counted_increase increase;

static int set_up(void **state)
{
	(void)state;
	memset(&row, 0, sizeof(row));
	memset(&range, 0, sizeof(range));
	row.state = COUNTED_READY;
	return 0;
}

static void add(u64 value)
{
	counted_row_add(&row, &range, value);
}

static void assert_increase(u64 count, u64 value, u64 least, u64 most)
{
	assert_true(counted_row_take(&row, &range, &increase));
	assert_int_equal(increase.count, count);
	assert_int_equal(increase.value, value);
	assert_int_equal(increase.least, least);
	assert_int_equal(increase.most, most);
}

TEST(each_take_has_the_events_since_the_last, set_up)
{
	assert_false(counted_row_take(&row, &range, &increase));
	add(6);
	add(4);
	add(7);
	assert_increase(3, 17, 4, 7);
	assert_false(counted_row_take(&row, &range, &increase));
	add(5);
	assert_increase(1, 5, 5, 5);
	assert_int_equal(row.reported_count, 4);
	assert_int_equal(row.reported_value, 22);
}

TEST(zero_is_a_value, set_up)
{
	add(0);
	add(0);
	assert_increase(2, 0, 0, 0);
}

TEST(a_row_without_a_range_has_count_and_sum, set_up)
{
	counted_row_add(&row, NULL, 6);
	counted_row_add(&row, NULL, 4);
	assert_true(counted_row_take(&row, NULL, &increase));
	assert_int_equal(increase.count, 2);
	assert_int_equal(increase.value, 10);
	assert_int_equal(increase.least, 0);
	assert_int_equal(increase.most, 0);
	row.value += 8; /* an event whose count comes later */
	assert_false(counted_row_take(&row, NULL, &increase));
	row.count++;
	assert_true(counted_row_take(&row, NULL, &increase));
	assert_int_equal(increase.value, 8);
}

TEST(a_row_in_which_a_program_was_stopped_is_left_for_later, set_up)
{
	add(6);
	add(4);
	range.begun++;
	range.most = 7;
	assert_false(counted_row_take(&row, &range, &increase));
	assert_int_equal(row.reported_count, 0);
	row.value += 7;
	row.count++;
	assert_increase(3, 17, 4, 7);
}

TEST(a_new_row_is_not_taken, set_up)
{
	add(6);
	row.state = COUNTED_NEW;
	assert_false(counted_row_take(&row, &range, &increase));
}

static void *add_ascending(void *unused)
{
	(void)unused;
	for (u64 value = 1; value <= EVENTS; value++)
		add(value);
	return NULL;
}

TEST(takes_beside_a_writer_are_exact, set_up)
{
	pthread_t writer;
	u64 taken = 0;

	assert_int_equal(pthread_create(&writer, NULL, add_ascending, NULL), 0);
	while (taken < EVENTS) {
		u64 first = taken + 1;

		if (!counted_row_take(&row, &range, &increase))
			continue;
		taken += increase.count;
		assert_int_equal(increase.least, first);
		assert_int_equal(increase.most, taken);
		assert_int_equal(increase.value, (first + taken) * increase.count / 2);
	}
	pthread_join(writer, NULL);
	assert_int_equal(taken, EVENTS);
}

TEST(rows_in_use_are_those_that_are_not_free, NULL)
{
	struct counted_table *table = calloc(1, COUNTED_BYTES(8, 1));

	assert_non_null(table);
	assert_int_equal(counted_rows_in_use(table, 8), 0);
	table->row[1].state = COUNTED_READY;
	table->row[2].state = COUNTED_NEW;
	table->row[7].state = COUNTED_READY;
	assert_int_equal(counted_rows_in_use(table, 7), 2);
	assert_int_equal(counted_rows_in_use(table, 8), 3);
	free(table);
}

#define SLOT_MASK 0xffffU
#define TAG 0x30000U

static void name_stacks(u32 kernel, u32 user, u32 kernel_state, u32 user_state)
{
	row.key.stacks = COUNTED_STACKS(kernel, user);
	row.key.task = COUNTED_TASK(7, STAMP_OF(0, 1, EVENT_FLAGS(kernel_state, user_state)));
}

static bool is_freed(void)
{
	counted_row_free_old(&row, &range, SLOT_MASK, TAG);
	return row.state == COUNTED_FREE;
}

TEST(rows_of_an_older_stack_map_are_freed, set_up)
{
	add(6);
	name_stacks(0x20001, 3, STATE_ID, STATE_NONE);
	assert_false(is_freed());
	assert_true(counted_row_take(&row, &range, &increase));
	assert_true(is_freed());
	assert_int_equal(row.count | row.value | row.reported_count | row.reported_value, 0);
	assert_int_equal(range.begun, 0);
	row.state = COUNTED_READY;
	name_stacks(3, 0x20001, STATE_NONE, STATE_ID);
	assert_true(is_freed());
}

TEST(rows_of_this_stack_map_and_rows_without_stacks_stay, set_up)
{
	name_stacks(TAG + 1, TAG + 5, STATE_ID, STATE_ID);
	assert_false(is_freed());
	name_stacks(3, 5, STATE_NONE, STATE_NONE);
	assert_false(is_freed());
}
