/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buckets of any width have each event exactly once, in the right bucket. */
#include "flamegraph/time_cells.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define START 123456789012345ULL

static struct time_cells cells;

static int begin(void **state)
{
	(void)state;
	time_cells_init(&cells);
	return 0;
}

static int clear(void **state)
{
	(void)state;
	time_cells_clear(&cells);
	return 0;
}

static void add(u64 since, u32 thread)
{
	const struct time_cell what = {.thread = thread, .cpu = 3, .count = 1, .value = 10};

	assert_int_equal(time_cells_add(&cells, START + since, &what), 0);
}

static u64 sum(void)
{
	u64 count = 0;

	for (u32 i = 0; i < cells.cells.count; i++) {
		const struct time_cell *cell = time_cells_at(&cells, i);

		assert_true(cell->bucket < CELL_BUCKETS_MAX);
		assert_true(i == 0 || cell->bucket >= time_cells_at(&cells, i - 1)->bucket);
		assert_int_equal(cell->value, 10 * cell->count);
		assert_int_equal(cell->cpu, cells.joins_cpus ? CPUS_JOINED : 3);
		count += cell->count;
	}
	return count;
}

TEST(equal_events_are_one_cell, begin, clear)
{
	add(0, 1);
	add(1, 1);
	add(1, 2);
	assert_int_equal(cells.origin, START);
	assert_int_equal(cells.cells.count, 2);
	assert_int_equal(time_cells_at(&cells, 0)->count, 2);
	assert_int_equal(sum(), 3);
}

TEST(buckets_grow_with_the_time, begin, clear)
{
	u64 since = 0;
	u32 events = 0;

	for (; since < 100000000000ULL; since += 7 + since / 3, events++)
		add(since, 1);
	add(100000000000ULL, 1);
	assert_int_equal(sum(), events + 1);
	assert_true(100000000000ULL >> cells.shift >= CELL_BUCKETS_MAX / 2);
	assert_int_equal(time_cells_at(&cells, cells.cells.count - 1)->bucket,
			 100000000000ULL >> cells.shift);
}

/* Adds events of so many threads to each bucket; returns the number of events. */
static u32 add_grid(u64 buckets, u32 threads)
{
	for (u64 since = 0; since < buckets; since++)
		for (u32 thread = 0; thread < threads; thread++)
			add(since << 20, thread);
	return (u32)buckets * threads;
}

TEST(buckets_grow_with_the_cells, begin, clear)
{
	u32 threads = CELLS_MANY / 128, events = add_grid(CELL_BUCKETS_MAX, threads);

	assert_int_equal(sum(), events);
	assert_true(cells.cells.count <= CELLS_MANY + threads);
	assert_true((CELL_BUCKETS_MAX - 1ULL) << 20 >> cells.shift >= CELL_BUCKETS_MIN);
}

TEST(some_time_is_kept_of_many_cells, begin, clear)
{
	u32 events = add_grid(2 * CELL_BUCKETS_MIN, 2 * CELLS_MANY / CELL_BUCKETS_MIN);

	assert_int_equal(sum(), events);
	assert_true((2 * CELL_BUCKETS_MIN - 1ULL) << 20 >> cells.shift >= CELL_BUCKETS_MIN - 1);
}

TEST(cells_that_are_not_told_apart_are_joined, begin, clear)
{
	u32 events = add_grid(4, 32), count = cells.cells.count;
	u32 *joined = malloc(32 * sizeof(*joined));

	for (u32 i = 0; i < 32; i++)
		joined[i] = i < 2 ? i : 40;
	cells.joined = joined;
	cells.joined_count = 32;
	cells.joins_cpus = true;
	assert_int_equal(time_cells_merge_by_time_step(&cells, cells.shift), 0);
	assert_int_equal(count, 4 * 32);
	assert_int_equal(cells.cells.count, 4 * 3);
	assert_int_equal(sum(), events);
}

TEST(widened_on_demand, begin, clear)
{
	for (u64 since = 0; since < 100; since++)
		add(since << 12, 1);
	assert_int_equal(time_cells_widen_time_steps(&cells, 18), 0);
	assert_int_equal(cells.shift, 18);
	assert_int_equal(cells.cells.count, 2);
	assert_int_equal(time_cells_at(&cells, 0)->count, 64);
	assert_int_equal(time_cells_widen_time_steps(&cells, 12), 0);
	assert_int_equal(cells.shift, 18);
	assert_int_equal(sum(), 100);
}
