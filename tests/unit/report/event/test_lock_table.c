/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for locks of the kernel and of processes. */
#include "report/event/lock_table.h"

#include "unit_test.h"
#include "wait_recording.h"

enum kind { WAIT, WAKER, BEGIN, END, CALL };
enum { FUTEX, SPIN, SLEEP, STACKS };

static struct lock_table *table;

static stack_functions functions[STACKS] = {
	[FUTEX] = {"futex_wait", "do_futex", "entry"},
	[SPIN] = {"native_queued_spin_lock_slowpath", "_raw_spin_lock", "entry"},
	[SLEEP] = {"__mutex_lock", "pipe_write", "entry"},
};

/* `number`: the start of a wait, or an address. */
struct line {
	u32 kind, tid;
	u64 number, time;
	u32 stack;
};

static void write_lock_event_lines(const struct line *lines, u32 count)
{
	static const char *const sources[] = {"offcpu-time", "offcpu-waker",
					      "lock:contention_begin", "lock:contention_end",
					      "syscalls:sys_enter_futex"};
	static const struct event_filter all;

	wait_recording_begin("locks", functions, STACKS);
	for (u32 i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		wait_recording_source(sources[i], i < BEGIN ? "ns" : "address");
	for (u32 tid = 1; tid <= 3; tid++)
		wait_recording_thread(tid, tid == 3 ? 3 : 1);
	for (const struct line *line = lines; line < lines + count; line++)
		wait_recording_event(line->kind, line->tid, line->time,
				     line->kind < BEGIN ? line->time - line->number : line->number,
				     line->stack);
	wait_recording_end();
	assert_int_equal(lock_table_create(reader, &all, names, paths, &table), 0);
}

#define RECORD(lines) write_lock_event_lines(lines, sizeof(lines) / sizeof(*(lines)))

static int clear(void **state)
{
	(void)state;
	lock_table_free(&table);
	wait_recording_clear();
	return 0;
}

static void check_row(u32 row, const char *type, u64 address, u32 tgid, u64 count, u64 total)
{
	const struct lock_row *lock;

	assert_true(row < table->count);
	lock = table->rows[row];
	assert_string_equal(lock->type, type);
	assert_int_equal(lock->address, address);
	assert_int_equal(lock->tgid, tgid);
	assert_int_equal(lock->count, count);
	assert_int_equal(lock->total, total);
}

/* A thread first spins for a mutex and then sleeps; in between it spins for a spinlock inside the
 * mutex. */
TEST(locks_of_the_kernel, NULL, clear)
{
	static const struct line lines[] = {
		{BEGIN, 1, 0xff8881000100, 100, SLEEP},
		{BEGIN, 1, 0xff8881000200, 110, SPIN},
		{END, 1, 0xff8881000200, 115, SPIN},
		{BEGIN, 1, 0xff8881000100, 120, SLEEP},
		{BEGIN, 2, 0xff8881000200, 125, SPIN},
		{WAKER, 2, 130, 190, SLEEP},
		{WAIT, 1, 130, 195, SLEEP},
		{END, 1, 0xff8881000100, 200, SLEEP},
		{END, 2, 0xff8881000200, 205, SPIN},
		{END, 3, 0xff8881000200, 300, SPIN},
	};

	RECORD(lines);
	assert_int_equal(table->count, 2);
	check_row(0, "mutex", 0xff00ff8881000100, 0, 1, 100);
	assert_string_equal(table->rows[0]->pairs[0]->sleeper.comm, "a");
	assert_string_equal(table->rows[0]->pairs[0]->waker.comm, "b");
	check_row(1, "spinlock", 0xff00ff8881000200, 0, 2, 85);
	assert_int_equal(table->rows[1]->pair_count, 2);
	assert_int_equal(table->rows[1]->most, 80);
	assert_null(table->rows[1]->pairs[0]->waker.kernel);
	assert_int_equal(table->waits, 3);
	assert_int_equal(table->total, 185);
}

/* The same address in two processes means two locks; a sleep in another system call is no wait for
 * a lock. */
TEST(locks_of_processes, NULL, clear)
{
	static const struct line lines[] = {
		{CALL, 1, 0x7000, 99, FUTEX},  {CALL, 3, 0x7000, 104, FUTEX},
		{WAKER, 2, 100, 150, FUTEX},   {WAIT, 1, 100, 160, FUTEX},
		{WAIT, 3, 105, 170, FUTEX},    {WAIT, 1, 200, 290, SLEEP},
		{CALL, 1, 0x7000, 299, FUTEX}, {WAIT, 1, 300, 310, FUTEX},
		{WAIT, 2, 50, 311, FUTEX},
	};

	RECORD(lines);
	assert_int_equal(table->count, 3);
	check_row(0, "futex", 0, 1, 1, 261);
	check_row(1, "futex", 0x7000, 1, 2, 70);
	assert_string_equal(table->rows[1]->comm, "a");
	assert_int_equal(table->rows[1]->pair_count, 2);
	assert_string_equal(table->rows[1]->pairs[0]->waker.comm, "b");
	assert_null(table->rows[1]->pairs[1]->waker.kernel);
	check_row(2, "futex", 0x7000, 3, 1, 65);
}
