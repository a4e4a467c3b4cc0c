/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of cgroups, and cgroups inside of others. */

#include "trace/read/names.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

static const struct trace_info info = {
	.cpus = 1, .hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};

static struct trace_reader *read_cgroups(const struct trace_cgroup *cgroups, u32 count)
{
	struct memory_recording recording;
	struct trace_reader *reader;
	u32 number;

	assert_int_equal(memory_recording_begin(&recording, "cgroups", &info, NULL), 0);
	for (u32 i = 0; i < count; i++) {
		assert_int_equal(trace_writer_cgroup(recording.writer, &cgroups[i], &number), 0);
		assert_int_equal(number, i + 1);
	}
	assert_int_equal(memory_recording_end(&recording, &reader, NULL), 0);
	return reader;
}

TEST(names)
{
	const struct trace_cgroup cgroups[] = {{.id = 1, .path = "/"},
					       {.id = 1ULL << 40, .path = ""},
					       {.id = 77, .path = "/user.slice"}};
	struct trace_reader *reader = read_cgroups(cgroups, 3);
	char room[TRACE_CGROUP_ROOM];

	assert_string_equal(trace_cgroup_name(reader, 0, room), "[unknown]");
	assert_string_equal(trace_cgroup_name(reader, 1, room), "/");
	assert_string_equal(trace_cgroup_name(reader, 2, room), "[cgroup 1099511627776]");
	assert_string_equal(trace_cgroup_name(reader, 3, room), "/user.slice");
	trace_reader_close(&reader);
}

TEST(the_writer_wants_a_task_s_cgroup_first)
{
	struct trace_task task = {.tid = 1, .tgid = 1, .cgroup = 1, .comm = "init"};
	struct memory_recording recording;

	assert_int_equal(memory_recording_begin(&recording, "tasks", &info, NULL), 0);
	assert_int_not_equal(trace_writer_task(recording.writer, &task), 0);
	task.cgroup = 0;
	assert_int_equal(trace_writer_task(recording.writer, &task), 0);
	memory_recording_discard(&recording);
}

TEST(within)
{
	assert_true(trace_cgroup_is_within("/a/b", "/a/b"));
	assert_true(trace_cgroup_is_within("/a/b", "/a"));
	assert_true(trace_cgroup_is_within("/a/b", "/a//"));
	assert_true(trace_cgroup_is_within("/a/b", "/"));
	assert_true(trace_cgroup_is_within("/", "/"));
	assert_true(trace_cgroup_is_within("[cgroup 5]", "[cgroup 5]"));
	assert_false(trace_cgroup_is_within("/a", "/a/b"));
	assert_false(trace_cgroup_is_within("/ab", "/a"));
	assert_false(trace_cgroup_is_within("[unknown]", "/"));
	assert_false(trace_cgroup_is_within("[cgroup 55]", "[cgroup 5]"));
}
