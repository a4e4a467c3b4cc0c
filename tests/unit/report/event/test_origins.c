/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time and CPU join an event with its origin, unless two origins have the same time and CPU. The
 * begin of a span comes before the task that has queued the work. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/event/origins.h"
#include "trace/block/source_name.h"
#include "trace/write/writer.h"
#include "unit_test.h"

enum kind { WORK, ORIGIN };

static char recording[] = "/tmp/stackmap-origins-XXXXXX";
static struct trace_reader *reader;
static struct origins *origins;

static const struct trace_event events[] = {
	{.kind = WORK, .tid = 10, .time = 1000, .cpu = 1},
	{.kind = ORIGIN, .tid = 20, .time = 1000, .cpu = 1, .value = 300},
	{.kind = WORK, .tid = 11, .time = 1000, .cpu = 2}, /* at the same time on another CPU */
	{.kind = WORK, .tid = 12, .time = 1001, .cpu = 1}, /* the origin was lost */
	{.kind = WORK, .tid = 13, .time = 2000, .cpu = 1}, /* two origins */
	{.kind = ORIGIN, .tid = 21, .time = 2000, .cpu = 1},
	{.kind = ORIGIN, .tid = 22, .time = 2000, .cpu = 1},
	{.kind = WORK, .tid = 14, .time = 3000, .cpu = 0},
	{.kind = ORIGIN, .tid = 23, .time = 3000, .cpu = 0},
};
#define COUNT (sizeof(events) / sizeof(*events))

/* Further events, which only recordings with more than two sources have. */
static const struct trace_event besides[] = {
	{.kind = 2, .tid = 30, .time = 5000, .cpu = 3},
	{.kind = 3, .tid = 0, .time = 5000, .cpu = 3},
	{.kind = 1, .tid = 31, .time = 5000, .cpu = 3},
};
#define BESIDES (sizeof(besides) / sizeof(*besides))

static void write_events(const struct trace_source *sources, u32 source_count, bool is_summary)
{
	const struct trace_info info = {.is_summary = is_summary,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	struct trace_writer *writer;

	unlink(recording);
	assert_int_equal(trace_writer_create(recording, &info, &writer, NULL), 0);
	for (u32 i = 0; i < source_count; i++)
		assert_int_equal(trace_writer_source(writer, &sources[i]), 0);
	for (u32 i = 0; i < COUNT + BESIDES; i++) {
		struct trace_event event = i < COUNT ? events[i] : besides[i - COUNT];

		event.kernel = event.user = TRACE_NO_STACK;
		assert_int_equal(trace_writer_event(writer, &event),
				 event.kind < source_count ? 0 : -EINVAL);
	}
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(trace_reader_open(recording, &reader, NULL), 0);
	assert_int_equal(origins_create(reader, &origins), 0);
}

static void write_recording(const char *origin_name, bool is_summary)
{
	const struct trace_source sources[] = {
		{.name = "workqueue:workqueue_execute_start", .value_unit = ""},
		{.name = (char *)origin_name, .extras = TRACE_EXTRA_VALUE, .value_unit = ""},
	};

	write_events(sources, 2, is_summary);
}

static int clear(void **state)
{
	(void)state;
	origins_free(&origins);
	trace_reader_close(&reader);
	unlink(recording);
	return 0;
}

/* The thread of an event's origin; 0: not known. */
static u32 origin_of(u32 index)
{
	const struct trace_event *origin = origins_find(origins, &events[index]);

	return origin ? origin->tid : 0;
}

static void check(const u32 *expected)
{
	for (u32 i = 0; i < COUNT; i++)
		assert_int_equal(origin_of(i), expected[i]);
}

TEST(same_time_and_cpu, NULL, clear)
{
	static const u32 expected[COUNT] = {[0] = 20, [7] = 23};

	write_recording(TRACE_ORIGIN, false);
	check(expected);
	assert_int_equal(origins_find(origins, &events[0])->value, 300);
}

TEST(without_origins, NULL, clear)
{
	static const u32 expected[COUNT];

	write_recording("sched:sched_switch", false);
	check(expected);
}

/* The kind 0 is a span, 1 is its begin. */
static void write_span(bool has_begins)
{
	const struct trace_source sources[] = {
		{.name = "span:a:b..c:d", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
		{.name = "span:a:b..",
		 .extras = has_begins ? TRACE_EXTRA_VALUE : 0,
		 .value_unit = has_begins ? "ns" : ""},
	};

	write_events(sources, 2, false);
}

TEST(the_end_of_a_span_has_its_begin, NULL, clear)
{
	static const u32 expected[COUNT] = {[0] = 20, [7] = 23};

	write_span(true);
	check(expected);
	assert_true(origins_is_begin(origins, origins_find(origins, &events[0])));
}

TEST(begins_without_values_are_none, NULL, clear)
{
	static const u32 expected[COUNT];

	write_span(false);
	check(expected);
}

/* Both are at one time and CPU: the queued work of a span's end, and the span's begin. */
TEST(a_begin_comes_before_who_has_queued_the_work, NULL, clear)
{
	const struct trace_source sources[] = {
		{.name = "span:a:b..c:d", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
		{.name = "span:a:b..", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
		{.name = TRACE_ORIGIN, .extras = TRACE_EXTRA_VALUE, .value_unit = ""},
		{.name = "workqueue:workqueue_execute_start", .value_unit = ""},
	};
	const struct trace_event work = {.kind = 3, .time = 5000, .cpu = 3};
	const struct trace_event span = {.kind = 0, .time = 5000, .cpu = 3};

	write_events(sources, 4, false);
	assert_int_equal(origins_find(origins, &span)->tid, 31);
	assert_int_equal(origins_find(origins, &work)->tid, 30);
	assert_false(origins_is_begin(origins, origins_find(origins, &work)));
}

/* In a summary an event stands for many, and has no time of its own. */
TEST(a_summary_joins_none, NULL, clear)
{
	static const u32 expected[COUNT];

	write_recording(TRACE_ORIGIN, true);
	check(expected);
}

int main(void)
{
	int file = mkstemp(recording);

	if (file < 0)
		return 1;
	close(file);
	return unit_tests_run();
}
