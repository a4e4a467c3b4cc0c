/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches that user space sets in the running programs of an instance: the pause with its owner,
 * the process that is left out, and the stacks that are left to a reader. A child makes a known
 * number of system calls. */
#include "capture/capture.h"

#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/capture_parts.h"
#include "capture/drain/file_ledger.h"
#include "capture/load/skeleton.h"
#include "clock.h"
#include "trace/write/writer.h"
#include "unit_test.h"

#define CALLS 100
#define AWAITED_NS_MAX (60 * 1000000000ULL)
#define NAME "pause-test"

static struct source_list sources;
static struct capture *capture;

static void skip_test_if_unsupported(int result, const struct stackmap_error *error)
{
	if (!result)
		return;
	printf("%s\n", error->message);
	assert_true(result == -EPERM || result == -ENOSYS || result == -EOPNOTSUPP ||
		    result == -ENOENT);
	skip();
}

static void begin_with(bool user_stacks)
{
	struct capture_options options = {.sources = &sources,
					  .bits = 10,
					  .comms = {.items = (const char *[]){NAME}, .count = 1},
					  .no_user_stacks = !user_stacks,
					  .user_unwind = USER_UNWIND_AUTO};
	struct stackmap_error error;
	int result = source_list_add(&sources, "syscalls:sys_enter_getppid", 0, &error);

	result = result ?: capture_create(&options, &capture, &error);
	skip_test_if_unsupported(result ?: capture_attach(capture, &error), &error);
}

static int begin(void **state)
{
	(void)state;
	begin_with(false);
	return 0;
}

static int begin_with_user_stacks(void **state)
{
	(void)state;
	begin_with(true);
	return 0;
}

static int end(void **state)
{
	(void)state;
	capture_free(&capture);
	source_list_clear(&sources);
	return 0;
}

static void call_in_child(bool is_recorder)
{
	pid_t child = fork();
	int status, calls = CALLS;

	assert_true(child >= 0);
	if (!child) {
		if (is_recorder)
			loaded_leave_out_self(capture_loaded(capture));
		prctl(PR_SET_NAME, NAME);
		while (calls--)
			syscall(SYS_getppid);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void assert_counts(u64 recorded, u64 paused)
{
	struct trace_ledger totals;

	sum_ledger_of_instance(capture_loaded(capture), &totals);
	assert_int_equal(totals.recorded, recorded);
	assert_int_equal(totals.lost[LOST_PAUSED], paused);
}

TEST(events_of_a_pause_are_counted, begin, end)
{
	assert_false(loaded_is_paused(capture_loaded(capture)));
	loaded_pause(capture_loaded(capture), PAUSE_USER);
	loaded_pause(capture_loaded(capture), PAUSE_USER);
	assert_true(loaded_is_paused(capture_loaded(capture)));
	call_in_child(false);
	assert_counts(0, CALLS);
	loaded_resume(capture_loaded(capture), PAUSE_USER);
	assert_false(loaded_is_paused(capture_loaded(capture)));
	call_in_child(false);
	assert_counts(CALLS, CALLS);
}

TEST(a_snapshot_does_not_end_a_pause, begin, end)
{
	loaded_pause(capture_loaded(capture), PAUSE_USER);
	assert_int_equal(capture_freeze(capture), 0);
	capture_thaw(capture);
	assert_true(loaded_is_paused(capture_loaded(capture)));
	call_in_child(false);
	assert_counts(0, CALLS);
}

/* A child begins the freeze and exits in it, as if it was killed. */
static void freeze_in_child(void)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		loaded_programs(&capture->loaded)->bss->freezer_tgid = getpid();
		loaded_programs(&capture->loaded)->bss->paused |= PAUSE_SNAPSHOT;
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(a_killed_snapshot_does_not_pause, begin, end)
{
	freeze_in_child();
	assert_int_equal(loaded_programs(&capture->loaded)->bss->freezer_tgid, 0);
	call_in_child(false);
	assert_counts(CALLS, 0);
	loaded_pause(capture_loaded(capture), PAUSE_USER);
	freeze_in_child();
	assert_true(loaded_is_paused(capture_loaded(capture)));
	call_in_child(false);
	assert_counts(CALLS, CALLS);
}

TEST(a_snapshot_pauses_for_itself_only, begin, end)
{
	loaded_programs(&capture->loaded)->bss->freezer_tgid = getpid();
	loaded_programs(&capture->loaded)->bss->paused = PAUSE_SNAPSHOT;
	call_in_child(false);
	assert_counts(0, CALLS);
	assert_int_equal(capture_freeze(capture), 0);
	capture_thaw(capture);
	assert_int_equal(loaded_programs(&capture->loaded)->bss->freezer_tgid, 0);
	call_in_child(false);
	assert_counts(CALLS, CALLS);
}

TEST(a_recorder_is_left_out_until_it_exits, begin, end)
{
	assert_int_equal(loaded_programs(&capture->loaded)->bss->own_tgid, getpid());
	call_in_child(true);
	assert_counts(0, 0);
	assert_int_equal(loaded_programs(&capture->loaded)->bss->own_tgid, 0);
	call_in_child(false);
	assert_counts(CALLS, 0);
}

/* The programs' word `rules_awaited`, by their map, which `map` keeps. */
static u64 rules_awaited(int map, size_t map_bytes, size_t offset)
{
	u8 *bytes = calloc(1, map_bytes + 8);
	u32 key = 0;
	u64 word;

	assert_non_null(bytes);
	assert_int_equal(bpf_map_lookup_elem(map, &key, bytes), 0);
	memcpy(&word, bytes + offset, sizeof(word));
	free(bytes);
	return word;
}

/* A reader says at the begin of a file that it takes stacks without rules. */
TEST(no_stack_is_left_to_a_reader_that_has_ended, begin_with_user_stacks, end)
{
	static const struct trace_info info = {.cpus = 1, .version = "this test"};
	struct capture_bpf *programs = loaded_programs(&capture->loaded);
	size_t offset = (u8 *)&programs->bss->rules_awaited - (u8 *)programs->bss;
	size_t map_bytes = bpf_map__value_size(programs->maps.bss);
	int map = dup(bpf_map__fd(programs->maps.bss)), file = memfd_create("file", MFD_CLOEXEC);
	struct trace_writer *writer;
	struct stackmap_error error;

	assert_true(map >= 0 && file >= 0);
	if (!capture->recording.deferred) {
		close(map);
		close(file);
		printf("stacks are not deferred here\n");
		skip();
	}
	assert_int_equal(trace_writer_create_fd(file, "memory", &info, &writer, &error), 0);
	assert_int_equal(capture_begin(capture, writer, &error), 0);
	/* A reader that is killed from here on is not waited for without end. */
	assert_in_range(rules_awaited(map, map_bytes, offset), 1,
			clock_ns(CLOCK_MONOTONIC) + AWAITED_NS_MAX);
	capture_free(&capture);
	assert_int_equal(rules_awaited(map, map_bytes, offset), 0);
	trace_writer_discard(&writer);
	close(map);
}
