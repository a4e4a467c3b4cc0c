/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of threads in successive files. The threads are not in /proc. */
#include "capture/drain/task_log.h"

#include <string.h>

#include "trace/write/memory_recording.h"
#include "unit_test.h"

#define PID 4194000U

static struct task_log *tasks;
static struct memory_recording recording;

static void begin_file(void)
{
	static const struct trace_info info = {.cpus = 1};

	assert_int_equal(memory_recording_begin(&recording, "tasks", &info, NULL), 0);
	assert_int_equal(task_log_begin_file_and_scan_threads(tasks, recording.writer, 0), 0);
	task_log_begin_round(tasks);
}

static int begin(void **state)
{
	const struct task_log_options options = {
		.zero = "idle", .names_fd = -1, .ignores_proc = true};

	(void)state;
	if (task_log_create(&options, &tasks))
		return -1;
	begin_file();
	return 0;
}

static int end(void **state)
{
	(void)state;
	memory_recording_discard(&recording);
	task_log_free(&tasks);
	return 0;
}

static void add_record(u64 time, enum task_change change, u32 tid, const char *comm)
{
	struct task_slot slot = {.tid = tid, .tgid = PID, .stamp = STAMP_OF(time, change, 0)};

	strcpy((char *)slot.comm, comm);
	assert_int_equal(task_log_take_record(tasks, recording.writer, &slot, time), 0);
}

static void add_event(u32 tid)
{
	assert_int_equal(task_log_ensure_thread(tasks, recording.writer, tid), 0);
}

/* Ends the file, and asserts that the last task of it is this one. */
static void expect_last(u32 count, u32 tid, const char *comm)
{
	const struct trace_task *written, *last;
	struct trace_reader *reader;

	assert_int_equal(memory_recording_end(&recording, &reader, NULL), 0);
	assert_int_equal(trace_reader_tasks(reader, &written), count);
	last = &written[count - 1];
	assert_int_equal(last->tid, tid);
	assert_int_equal(last->tgid, tid ? PID : 0);
	assert_string_equal(last->comm, comm);
	trace_reader_close(&reader);
}

TEST(a_thread_that_exits_between_two_files_has_its_last_name, begin, end)
{
	add_record(2000, TASK_RENAME, PID + 1, "cc1");
	add_record(1000, TASK_FORK, PID + 1, "sh"); /* read from the ring of another CPU */
	expect_last(3, PID + 1, "sh");
	begin_file();
	add_event(PID + 1);
	add_event(PID + 1);
	expect_last(2, PID + 1, "cc1");
	begin_file();
	add_event(PID + 1);
	expect_last(2, PID + 1, "cc1");
}

TEST(a_thread_of_an_older_file_is_another_thread, begin, end)
{
	add_record(1000, TASK_FORK, PID + 1, "sh");
	expect_last(2, PID + 1, "sh");
	begin_file();
	expect_last(1, 0, "idle");
	begin_file();
	add_event(PID + 1);
	expect_last(1, 0, "idle");
}

TEST(a_thread_has_no_name_of_another_thread, begin, end)
{
	add_record(1000, TASK_FORK, PID + 1, "sh");
	expect_last(2, PID + 1, "sh");
	begin_file();
	add_event(PID + 2);
	add_event(PID + 1 - (1 << 14));
	expect_last(1, 0, "idle");
}
