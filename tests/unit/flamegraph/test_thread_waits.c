/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The longest waits of each thread stay, and a thread with few waits keeps all of them. */
#include "flamegraph/thread_waits.h"

#include "unit_test.h"

#define MANY (20 * WAITS_MAX)
#define FEW 10

enum { BUSY, QUIET };

static struct thread_waits waits;

static void add(u32 thread, u64 begin, u64 length)
{
	const struct thread_wait wait = {.thread = thread, .begin = begin, .length = length};

	assert_int_equal(thread_waits_add(&waits, &wait), 0);
}

static int clear(void **state)
{
	(void)state;
	thread_waits_clear(&waits);
	return 0;
}

static u32 count(u32 thread, u64 least)
{
	u32 found = 0;

	for (u32 i = 0; i < waits.count; i++)
		found += waits.waits[i].thread == thread && waits.waits[i].length >= least;
	return found;
}

TEST(few_waits_all_stay_in_order, NULL, clear)
{
	add(QUIET, 2, 1);
	add(BUSY, 3, 1);
	add(BUSY, 1, 2);
	thread_waits_finish(&waits);
	assert_int_equal(waits.count, 3);
	assert_int_equal(waits.waits[0].begin, 1);
	assert_int_equal(waits.waits[1].begin, 3);
	assert_int_equal(waits.waits[2].thread, QUIET);
}

TEST(the_longest_of_each_thread_stay, NULL, clear)
{
	u32 kept;

	for (u32 i = 0; i < MANY; i++) {
		add(BUSY, i, 1000 + i * 7919ULL % MANY);
		if (i < FEW)
			add(QUIET, i, 1);
	}
	thread_waits_finish(&waits);
	assert_true(waits.count <= WAITS_MAX);
	assert_int_equal(count(QUIET, 0), FEW);
	kept = count(BUSY, 0);
	assert_true(kept >= WAITS_MAX / 2);
	assert_int_equal(count(BUSY, 1000 + MANY - kept), kept);
}
