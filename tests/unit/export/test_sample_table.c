/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events that differ only in time and value are one sample; a full table returns an error, and can
 * be used again after it was emptied. */
#include "export/sample_table.h"

#include <errno.h>
#include <string.h>

#include "unit_test.h"

#define ROOM 4

static struct sample_table *table;
static struct sample taken[ROOM];
static u32 taken_count;

static const struct trace_event base = {
	.time = 100, .leaf = 5, .value = 7, .tid = 10, .kind = 1, .cpu = 2, .kernel = 3, .user = 4};
static const struct trace_task task = {.tid = 10, .tgid = 9, .comm = "task"};

static int take(void *arg, const struct sample *sample)
{
	(void)arg;
	assert_true(taken_count < ROOM);
	taken[taken_count++] = *sample;
	return 0;
}

static void take_all(void)
{
	taken_count = 0;
	assert_int_equal(sample_table_each(table, take, NULL), 0);
}

static void add(struct trace_event event)
{
	assert_int_equal(sample_table_add(table, &event, &task, 0), 0);
}

static int create(void **state)
{
	(void)state;
	return sample_table_create(ROOM, false, &table);
}

static int destroy(void **state)
{
	(void)state;
	sample_table_free(&table);
	return table != NULL;
}

TEST(equal_events_add_up, create, destroy)
{
	struct trace_event later = base;

	later.time = 200;
	later.value = 30;
	add(base);
	add(later);
	take_all();
	assert_int_equal(taken_count, 1);
	assert_int_equal(taken[0].count, 2);
	assert_int_equal(taken[0].value, 37);
	assert_int_equal(taken[0].key.tgid, 9);
	assert_string_equal(taken[0].key.comm, "task");
	assert_int_equal(taken[0].key.event.user, 4);
}

/* Bytes behind the end of a name do not count. */
TEST(names_are_compared_as_text, create, destroy)
{
	struct trace_task other = {.tid = 10, .tgid = 9, .comm = "task\0rest"};

	add(base);
	assert_int_equal(sample_table_add(table, &base, &other, 0), 0);
	take_all();
	assert_int_equal(taken_count, 1);
}

#define DIFFERS(member, other)                                                                     \
	do {                                                                                       \
		struct trace_event event = base;                                                   \
                                                                                                   \
		event.member = other;                                                              \
		sample_table_empty(table);                                                         \
		add(base);                                                                         \
		add(event);                                                                        \
		take_all();                                                                        \
		assert_int_equal(taken_count, 2);                                                  \
	} while (0)

TEST(events_with_other_attributes_are_other_samples, create, destroy)
{
	struct trace_task other = {.tid = 10, .tgid = 9, .comm = "tasks"};

	DIFFERS(leaf, 6);
	DIFFERS(tid, 11);
	DIFFERS(kind, 0);
	DIFFERS(cpu, 1);
	DIFFERS(kernel, TRACE_NO_STACK);
	DIFFERS(user, 5);
	sample_table_empty(table);
	add(base);
	assert_int_equal(sample_table_add(table, &base, &other, 0), 0);
	assert_int_equal(sample_table_add(table, &base, NULL, 0), 0);
	assert_int_equal(sample_table_add(table, &base, NULL, 7), 0);
	take_all();
	assert_int_equal(taken_count, 4);
}

TEST(a_reason_counts_only_without_a_stack, create, destroy)
{
	struct trace_event with = base, without = base;

	with.kernel_reason = REASON_CHANGED;
	add(base);
	add(with);
	without.kernel = TRACE_NO_STACK;
	add(without);
	without.kernel_reason = REASON_CHANGED;
	add(without);
	take_all();
	assert_int_equal(taken_count, 3);
	assert_int_equal(taken[0].count, 2);
}

TEST(a_full_table_is_emptied, create, destroy)
{
	struct trace_event event = base;

	for (event.tid = 0; event.tid < ROOM; event.tid++)
		add(event);
	assert_int_equal(sample_table_add(table, &event, &task, 0), -ENOSPC);
	event.tid = ROOM - 1;
	add(event);
	take_all();
	assert_int_equal(taken_count, ROOM);
	for (u32 i = 0; i < ROOM; i++)
		assert_int_equal(taken[i].key.event.tid, i);
	assert_int_equal(taken[ROOM - 1].count, 2);
	sample_table_empty(table);
	add(event);
	take_all();
	assert_int_equal(taken_count, 1);
	assert_int_equal(taken[0].count, 1);
}

static int stop_early(void *arg, const struct sample *sample)
{
	(void)sample;
	return ++*(int *)arg == 2 ? -EIO : 0;
}

TEST(the_first_error_ends_a_round, create, destroy)
{
	struct trace_event event = base;
	int calls = 0;

	for (event.tid = 0; event.tid < ROOM; event.tid++)
		add(event);
	assert_int_equal(sample_table_each(table, stop_early, &calls), -EIO);
	assert_int_equal(calls, 2);
}
