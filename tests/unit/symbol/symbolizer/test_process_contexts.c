/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which process contexts are kept: limits of all processes and of a user, processes that end. */
#include "symbol/symbolizer/process_contexts.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace_file.h"
#include "unit_test.h"

#define USER 1000
#define OTHER 1001
#define LARGE TRACE_PROCESS_BYTES_MAX

static u8 message[LARGE];

static int setup(void **state)
{
	return process_contexts_create((struct process_contexts **)state);
}

static int teardown(void **state)
{
	process_contexts_free((struct process_contexts **)state);
	return 0;
}

/* A message of `bytes` times the same letter. */
static void keep(struct process_contexts *contexts, u32 tgid, u64 since, uid_t uid, u32 bytes,
		 char letter)
{
	const struct trace_process process = {
		.tgid = tgid, .since = since, .bytes = bytes, .message = message};

	memset(message, letter, bytes);
	process_contexts_keep(contexts, &process, uid);
}

static int count_context(void *arg, const struct trace_process *process)
{
	assert_non_null(process->message);
	++*(u32 *)arg;
	return 0;
}

static u32 count_contexts(const struct process_contexts *contexts)
{
	u32 count = 0;

	assert_int_equal(process_contexts_each(contexts, count_context, &count), 0);
	return count;
}

struct expected {
	u32 tgid;
	u32 bytes;
	char letter;
	bool is_found;
};

static int compare_context(void *arg, const struct trace_process *process)
{
	struct expected *expected = arg;

	if (process->tgid != expected->tgid)
		return 0;
	assert_false(expected->is_found);
	expected->is_found = true;
	assert_int_equal(process->bytes, expected->bytes);
	for (u32 i = 0; i < process->bytes; i++)
		assert_int_equal(process->message[i], expected->letter);
	return 0;
}

static void expect_context(const struct process_contexts *contexts, u32 tgid, u32 bytes,
			   char letter)
{
	struct expected expected = {.tgid = tgid, .bytes = bytes, .letter = letter};

	assert_int_equal(process_contexts_each(contexts, compare_context, &expected), 0);
	assert_true(expected.is_found);
}

/* The process id of a process that has ended. */
static u32 ended_process(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return (u32)child;
}

TEST(a_process_has_its_last_context, setup, teardown)
{
	keep(*state, 7, 100, USER, 10, 'a');
	keep(*state, 8, 100, USER, 10, 'b');
	keep(*state, 7, 100, USER, 20, 'c');
	assert_int_equal(count_contexts(*state), 2);
	expect_context(*state, 7, 20, 'c');
	expect_context(*state, 8, 10, 'b');
	process_contexts_drop(*state, 7, 99);
	assert_int_equal(count_contexts(*state), 2);
	process_contexts_drop(*state, 7, 100);
	assert_int_equal(count_contexts(*state), 1);
}

TEST(a_full_memory_takes_a_message_in_place_of_one_of_equal_size, setup, teardown)
{
	const u32 most = PROCESS_CONTEXTS_BYTES_MAX / LARGE;

	for (u32 i = 0; i < most; i++)
		keep(*state, 1 + i, 100, 0, LARGE, 'a');
	keep(*state, 1, 100, 0, LARGE, 'b');
	expect_context(*state, 1, LARGE, 'b');
	assert_int_equal(process_contexts_end_file(*state, true), 0);
	keep(*state, most + 1, 100, 0, 1, 'c');
	assert_int_equal(count_contexts(*state), most);
	assert_int_equal(process_contexts_end_file(*state, true), 1);
}

TEST(a_refused_process_is_counted_once_a_file, setup, teardown)
{
	for (u32 i = 0; i < PROCESS_CONTEXTS_MAX; i++)
		keep(*state, 1 + i, 100, 0, 1, 'a');
	for (u32 i = 0; i < 3; i++)
		keep(*state, PROCESS_CONTEXTS_MAX + 1, 100, 0, 1, 'a');
	keep(*state, PROCESS_CONTEXTS_MAX + 2, 100, 0, 1, 'a');
	assert_int_equal(count_contexts(*state), PROCESS_CONTEXTS_MAX);
	assert_int_equal(process_contexts_end_file(*state, true), 2);
	keep(*state, PROCESS_CONTEXTS_MAX + 1, 100, 0, 1, 'a');
	assert_int_equal(process_contexts_end_file(*state, true), 1);
	assert_int_equal(process_contexts_end_file(*state, true), 0);
}

TEST(a_user_leaves_room_for_others, setup, teardown)
{
	const u32 most = USER_CONTEXTS_BYTES_MAX / LARGE;

	for (u32 i = 0; i < 2 * most; i++)
		keep(*state, 1 + i, 100, USER, LARGE, 'a');
	assert_int_equal(count_contexts(*state), most);
	keep(*state, 10000, 100, OTHER, LARGE, 'b');
	keep(*state, 10001, 100, 0, LARGE, 'c');
	assert_int_equal(count_contexts(*state), most + 2);
	assert_int_equal(process_contexts_end_file(*state, true), most);
}

TEST(a_user_has_a_number_of_contexts, setup, teardown)
{
	for (u32 i = 0; i < USER_CONTEXTS_MAX + 1; i++)
		keep(*state, 1 + i, 100, USER, 1, 'a');
	assert_int_equal(count_contexts(*state), USER_CONTEXTS_MAX);
	assert_int_equal(process_contexts_end_file(*state, true), 1);
}

TEST(a_process_without_room_keeps_its_earlier_context, setup, teardown)
{
	const u32 most = USER_CONTEXTS_BYTES_MAX / LARGE;

	keep(*state, 1, 100, USER, 1, 'a');
	for (u32 i = 1; i < most; i++)
		keep(*state, 1 + i, 100, USER, LARGE, 'a');
	keep(*state, 10000, 100, USER, LARGE - 1, 'a');
	keep(*state, 1, 100, USER, 2, 'b');
	expect_context(*state, 1, 1, 'a');
	assert_int_equal(process_contexts_end_file(*state, true), 1);
}

TEST(each_of_many_refused_processes_is_counted_once, setup, teardown)
{
	const u32 processes = 3 * PROCESS_CONTEXTS_MAX;

	for (u32 visit = 0; visit < 2; visit++)
		for (u32 tgid = 1; tgid <= processes; tgid++)
			keep(*state, tgid, 100, USER, 1, 'a');
	assert_int_equal(process_contexts_end_file(*state, true), processes - USER_CONTEXTS_MAX);
	keep(*state, processes, 100, USER, 1, 'a');
	assert_int_equal(process_contexts_end_file(*state, true), 1);
}

/* Its last events may be in the file after the one at whose end it was found to have ended. */
TEST(a_process_that_has_ended_is_in_one_more_file, setup, teardown)
{
	keep(*state, ended_process(), 100, USER, 10, 'a');
	keep(*state, (u32)getpid(), 100, USER, 10, 'b');
	assert_int_equal(process_contexts_end_file(*state, false), 0);
	assert_int_equal(count_contexts(*state), 2);
	assert_int_equal(process_contexts_end_file(*state, false), 0);
	assert_int_equal(count_contexts(*state), 1);
	expect_context(*state, (u32)getpid(), 10, 'b');
	assert_int_equal(process_contexts_end_file(*state, false), 0);
	assert_int_equal(count_contexts(*state), 1);
}

TEST(a_flight_recorder_keeps_ended_processes_while_there_is_room, setup, teardown)
{
	keep(*state, ended_process(), 100, 0, 10, 'a');
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(process_contexts_end_file(*state, true), 0);
	assert_int_equal(count_contexts(*state), 1);
	for (u32 i = 0; i < USER_CONTEXTS_MAX + 1; i++)
		keep(*state, (u32)getpid(), 1 + i, USER, 1, 'b');
	assert_int_equal(process_contexts_end_file(*state, true), 1);
	assert_int_equal(count_contexts(*state), USER_CONTEXTS_MAX);
}

/* A process that is not dumpable belongs to root in the eyes of /proc. Its user has limits
 * nevertheless. */
TEST(a_user_cannot_pass_for_root, setup, teardown)
{
	int ready[2], end[2];
	uid_t uid = 0;
	pid_t child;
	char byte;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(pipe(ready) | pipe(end), 0);
	child = fork();
	if (!child) {
		close(end[1]);
		_exit(setuid(USER) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
		      write(ready[1], "", 1) != 1 || read(end[0], &byte, 1));
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(process_contexts_read_user((u32)child, &uid));
	assert_int_equal(uid, USER);
	close(end[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(process_contexts_read_user((u32)child, &uid));
	close(ready[0]);
	close(end[0]);
}
