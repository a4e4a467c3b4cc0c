/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits by both ends, and the chains of the wakers' own waits. */
#include "report/event/wait_pairs.h"

#include "unit_test.h"
#include "wait_recording.h"

enum kind { WAIT, WAKER, HOLDER };
enum { FUTEX, TIMER, STACKS };

static struct wait_pairs *pairs;

static stack_functions functions[STACKS] = {
	[FUTEX] = {"futex_wait", "do_futex", "entry"},
	[TIMER] = {"hrtimer_wakeup", "__hrtimer_run_queues", "sysvec_timer"},
};

struct line {
	u32 kind, tid;
	u64 begin, end;
	u32 stack;
};

static void record(const struct line *lines, u32 count)
{
	static const char *const sources[] = {"offcpu-time", "offcpu-waker", "offcpu-holder"};

	wait_recording_begin("waits", functions, STACKS);
	for (u32 i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		wait_recording_source(sources[i], "ns");
	for (u32 tid = 1; tid <= 4; tid++)
		wait_recording_thread(tid, 1);
	for (const struct line *line = lines; line < lines + count; line++)
		wait_recording_event(line->kind, line->tid, line->end, line->end - line->begin,
				     line->stack);
	wait_recording_end();
}

#define RECORD(lines) record(lines, sizeof(lines) / sizeof(*(lines)))

static const char *idle_functions[] = {"no_function", "futex_*"};
static struct string_list idle;

static void pair_up(u32 chain)
{
	static const struct event_filter all;

	wait_pairs_free(&pairs);
	assert_int_equal(wait_pairs_create(reader, &all, &idle, names, paths, chain, 10, &pairs),
			 0);
}

static int clear(void **state)
{
	(void)state;
	wait_pairs_free(&pairs);
	wait_recording_clear();
	return 0;
}

static void check_row(u32 row, u32 depth, const char *sleeper, const char *waker, u64 count,
		      u64 total)
{
	const struct wait_pair *pair;

	assert_true(row < pairs->count);
	pair = pairs->rows[row];
	assert_int_equal(pair->depth, depth);
	assert_string_equal(pair->sleeper.comm, sleeper);
	assert_string_equal(pair->waker.comm, waker);
	assert_int_equal(pair->count, count);
	assert_int_equal(pair->total, total);
}

TEST(equal_ends_are_one_pair_by_time, NULL, clear)
{
	static const struct line lines[] = {
		{WAKER, 2, 100, 200, FUTEX}, {WAIT, 1, 100, 210, FUTEX},
		{WAIT, 3, 205, 220, FUTEX},  {WAKER, 2, 300, 330, FUTEX},
		{WAIT, 1, 300, 340, FUTEX},  {WAKER, TID_INTERRUPT, 400, 1400, TIMER},
		{WAIT, 2, 400, 1401, FUTEX},
	};

	RECORD(lines);
	pair_up(0);
	assert_int_equal(pairs->count, 3);
	check_row(0, 0, "b", "", 1, 1001);
	assert_string_equal(pairs->rows[0]->waker.interrupt, "timer");
	assert_string_equal(pairs->rows[0]->waker.function, "hrtimer_wakeup");
	check_row(1, 0, "a", "b", 2, 150);
	assert_int_equal(pairs->rows[1]->most, 110);
	assert_int_equal(pairs->rows[1]->longest->time, 210);
	assert_int_equal(pairs->rows[1]->until_run, 20);
	assert_null(pairs->rows[1]->waker.interrupt);
	check_row(2, 0, "c", "", 1, 15);
	assert_null(pairs->rows[2]->waker.kernel);
	assert_int_equal(pairs->waits, 4);
	assert_int_equal(pairs->total, 1166);
	assert_int_equal(pairs->unknown, 1);
	assert_int_equal(pairs->unknown_total, 15);
}

/* a waits for b. Meanwhile b has waited for c twice, the first time since before a's wait; before
 * that, a timer woke b. */
TEST(a_chain_is_cut_to_the_wait_above, NULL, clear)
{
	static const struct line lines[] = {
		{WAKER, TID_INTERRUPT, 10, 90, TIMER},
		{WAIT, 2, 10, 95, FUTEX},
		{WAKER, 3, 96, 150, FUTEX},
		{WAIT, 2, 96, 160, FUTEX},
		{WAKER, 3, 170, 300, FUTEX},
		{WAIT, 2, 170, 310, FUTEX},
		{WAKER, 2, 100, 400, FUTEX},
		{WAIT, 1, 100, 410, FUTEX},
		{WAKER, 4, 180, 290, FUTEX},
		{WAIT, 3, 180, 295, FUTEX},
	};

	RECORD(lines);
	pair_up(1);
	check_row(0, 0, "a", "b", 1, 310);
	check_row(1, 1, "b", "c", 2, 60 + 140);
	assert_int_equal(pairs->rows[1]->most, 140);
	check_row(2, 0, "b", "c", 2, 64 + 140);
	check_row(3, 1, "c", "d", 1, 115);
	pair_up(2);
	check_row(1, 1, "b", "c", 2, 60 + 140);
	check_row(2, 2, "c", "d", 1, 115);
	check_row(3, 0, "b", "c", 2, 64 + 140);
}

TEST(threads_that_wait_for_one_another_are_a_cycle, NULL, clear)
{
	static const struct line lines[] = {
		{WAIT, 1, 100, 500, FUTEX},   {WAIT, 2, 110, 501, FUTEX},
		{WAIT, 3, 120, 502, FUTEX},   {HOLDER, 2, 100, 510, FUTEX},
		{HOLDER, 1, 110, 510, FUTEX}, {HOLDER, 1, 120, 510, FUTEX},
	};

	RECORD(lines);
	pair_up(8);
	assert_int_equal(pairs->count, 7);
	check_row(0, 0, "a", "b", 1, 400);
	assert_true(pairs->rows[0]->waker.holds_lock);
	assert_false(pairs->rows[0]->is_cycle);
	check_row(1, 1, "b", "a", 1, 390);
	assert_true(pairs->rows[1]->is_cycle);
	check_row(4, 0, "c", "a", 1, 382);
	check_row(5, 1, "a", "b", 1, 380);
	check_row(6, 2, "b", "a", 1, 380);
	assert_true(pairs->rows[6]->is_cycle);
}

TEST(idle_sleepers_are_last, NULL, clear)
{
	static const struct line lines[] = {
		{WAIT, 1, 100, 900, FUTEX},
		{WAIT, 2, 200, 300, TIMER},
	};

	RECORD(lines);
	pair_up(0);
	check_row(0, 0, "a", "", 1, 800);
	assert_false(pairs->rows[0]->sleeper.is_idle);
	assert_int_equal(pairs->idle, 0);
	idle = (struct string_list){.items = idle_functions, .count = 2};
	pair_up(0);
	idle = (struct string_list){};
	check_row(0, 0, "b", "", 1, 100);
	check_row(1, 0, "a", "", 1, 800);
	assert_true(pairs->rows[1]->sleeper.is_idle);
	assert_int_equal(pairs->idle, 1);
	assert_int_equal(pairs->idle_total, 800);
	assert_int_equal(pairs->total, 900);
}

/* The thread was woken while the holder was searched. */
TEST(a_waker_is_taken_before_a_holder, NULL, clear)
{
	static const struct line lines[] = {
		{HOLDER, 3, 100, 450, FUTEX},
		{WAKER, 2, 100, 490, FUTEX},
		{WAIT, 1, 100, 500, FUTEX},
	};

	RECORD(lines);
	pair_up(0);
	assert_int_equal(pairs->count, 1);
	check_row(0, 0, "a", "b", 1, 400);
	assert_false(pairs->rows[0]->waker.holds_lock);
}
