/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A wait and its waker are joined by the start of the wait, if no other wait began at the same
 * time. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/event/wait_ends.h"
#include "trace/write/writer.h"
#include "unit_test.h"

enum kind { WAITER, WAKER, OTHER };

static char recording[] = "/tmp/stackmap-wakeups-XXXXXX";
static struct trace_reader *reader;
static struct wakeups *wakeups;

static const struct trace_event events[] = {
	{.kind = WAKER, .tid = 20, .time = 1500, .value = 500},	 /* its wait began at 1000 */
	{.kind = OTHER, .tid = 30, .time = 1600, .value = 600},	 /* the same start, but no wait */
	{.kind = WAITER, .tid = 10, .time = 1700, .value = 700}, /* its wait began at 1000 */
	{.kind = WAITER, .tid = 11, .time = 1800, .value = 300}, /* the waker was lost */
	{.kind = WAKER, .tid = 21, .time = 3000, .value = 1000}, /* two waits began at 2000 */
	{.kind = WAITER, .tid = 12, .time = 3100, .value = 1100},
	{.kind = WAITER, .tid = 13, .time = 3200, .value = 1200},
};
#define COUNT (sizeof(events) / sizeof(*events))

static void write_recording(bool with_wakers, bool is_summary)
{
	const struct trace_info info = {.is_summary = is_summary,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_source sources[] = {
		{.name = "offcpu-time", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
		{.name = with_wakers ? "offcpu-waker" : "kmem:kmalloc",
		 .extras = TRACE_EXTRA_VALUE,
		 .value_unit = "ns"},
		{.name = "sched:sched_switch", .extras = TRACE_EXTRA_VALUE, .value_unit = ""},
	};
	struct trace_writer *writer;

	unlink(recording);
	assert_int_equal(trace_writer_create(recording, &info, &writer, NULL), 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(trace_writer_source(writer, &sources[i]), 0);
	for (u32 i = 0; i < COUNT; i++) {
		struct trace_event event = events[i];

		event.kernel = event.user = TRACE_NO_STACK;
		assert_int_equal(trace_writer_event(writer, &event), 0);
	}
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(trace_reader_open(recording, &reader, NULL), 0);
	assert_int_equal(wakeups_create(reader, &wakeups), 0);
}

static int clear(void **state)
{
	(void)state;
	wakeups_free(&wakeups);
	trace_reader_close(&reader);
	unlink(recording);
	return 0;
}

/* The thread at the other end of an event's wait; 0: unknown. */
static u32 tid_at_other_end_of_wait(u32 index)
{
	const struct trace_event *end = wakeups_other_event_of_wait(wakeups, &events[index]);

	return end ? end->tid : 0;
}

TEST(both_ends, NULL, clear)
{
	static const u32 others[COUNT] = {10, 0, 20, 0, 0, 0, 0};

	write_recording(true, false);
	for (u32 i = 0; i < COUNT; i++)
		assert_int_equal(tid_at_other_end_of_wait(i), others[i]);
	assert_int_equal(wakeups_other_event_of_wait(wakeups, &events[0])->time, 1700);
	assert_true(wakeups_is_waker(wakeups, &events[0]));
	assert_false(wakeups_is_waker(wakeups, &events[2]));
}

TEST(without_wakers, NULL, clear)
{
	write_recording(false, false);
	for (u32 i = 0; i < COUNT; i++)
		assert_int_equal(tid_at_other_end_of_wait(i), 0);
}

/* In a summary the value of an event is not the length of one wait. */
TEST(a_summary_joins_none, NULL, clear)
{
	write_recording(true, true);
	for (u32 i = 0; i < COUNT; i++)
		assert_int_equal(tid_at_other_end_of_wait(i), 0);
}

int main(void)
{
	int file = mkstemp(recording);

	if (file < 0)
		return 1;
	close(file);
	return unit_tests_run();
}
