/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Results of the public functions for a recording with known contents (small_recording.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "small_recording.h"
#include "stackmap/recording.h"
#include "unit_test.h"

static char path[] = "/tmp/stackmap-recording-XXXXXX";

struct seen {
	struct stackmap_recording *recording;
	uint32_t count;
	struct stackmap_event events[SMALL_EVENTS];
};

static int write_file(void **state)
{
	(void)state;
	close(mkstemp(path));
	return small_recording_write(path);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static struct stackmap_recording *open_file(void)
{
	struct stackmap_recording *recording;
	struct stackmap_error error;

	assert_int_equal(stackmap_recording_open(path, &recording, &error), 0);
	return recording;
}

static int keep_event(void *arg, const struct stackmap_event *event)
{
	struct seen *seen = arg;

	assert_in_range(seen->count, 0, SMALL_EVENTS - 1);
	seen->events[seen->count++] = *event;
	return 0;
}

static struct seen read_events_of_recording(struct stackmap_recording *recording)
{
	struct seen seen = {.recording = recording};

	assert_int_equal(stackmap_recording_events(recording, keep_event, &seen, NULL), 0);
	assert_int_equal(seen.count, SMALL_EVENTS);
	return seen;
}

TEST(a_recording_says_how_it_was_made)
{
	struct stackmap_recording *recording = open_file();
	const struct stackmap_recording_info *info = stackmap_recording_info(recording);

	assert_int_equal(info->start_realtime, 1700000000000000000);
	assert_int_equal(info->start_monotonic, 100000000000);
	assert_int_equal(info->frequency, 99);
	assert_int_equal(info->cpus, 2);
	assert_string_equal(info->hostname, "testhost");
	assert_string_equal(info->kernel, "6.1.0");
	assert_string_equal(info->machine, "x86_64");
	assert_string_equal(info->command, "stackmap record -F 99 -e sched:sched_switch -- sh");
	assert_string_equal(info->version, "0.1.0");
	assert_null(stackmap_recording_damage(recording));
	stackmap_recording_close(&recording);
	assert_null(recording);
}

TEST(numbers_out_of_range_give_null)
{
	struct stackmap_recording *recording = open_file();

	assert_int_equal(stackmap_recording_source_count(recording), 2);
	assert_string_equal(stackmap_recording_source(recording, 1)->name, "sched:sched_switch");
	assert_string_equal(stackmap_recording_source(recording, 1)->unit, "ns");
	assert_null(stackmap_recording_source(recording, 2));
	assert_int_equal(stackmap_recording_task_count(recording), 5);
	assert_non_null(stackmap_recording_task(recording, 4));
	assert_null(stackmap_recording_task(recording, 5));
	assert_int_equal(stackmap_recording_stack_count(recording), 6);
	assert_non_null(stackmap_recording_stack(recording, 5));
	assert_null(stackmap_recording_stack(recording, 6));
	assert_null(stackmap_recording_stack(recording, STACKMAP_NO_STACK));
	stackmap_recording_close(&recording);
}

TEST(a_task_is_what_it_was_at_that_time)
{
	struct stackmap_recording *recording = open_file();
	const struct stackmap_task *task = stackmap_recording_task_at(recording, 100, 110000000000);

	assert_string_equal(task->comm, "sh");
	assert_int_equal(task->pid, 100);
	assert_string_equal(task->cgroup, "/user.slice");
	assert_int_equal(task->time, 110000000000);
	task = stackmap_recording_task_at(recording, 100, 109999999999);
	assert_string_equal(task->cgroup, "/user.slice/sh.scope");
	assert_int_equal(task->time, 0);
	task = stackmap_recording_task_at(recording, 201, 1);
	assert_int_equal(task->pid, 200);
	assert_string_equal(task->cgroup, "");
	assert_null(stackmap_recording_task_at(recording, 999, 1));
	stackmap_recording_close(&recording);
}

TEST(stacks_say_how_they_end)
{
	struct stackmap_recording *recording = open_file();
	struct seen seen = read_events_of_recording(recording);
	const struct stackmap_call_stack *stack =
		stackmap_recording_stack(recording, seen.events[0].kernel_stack);

	assert_int_equal(stack->depth, 3);
	assert_int_equal(stack->frames[0], 0xffffffff81001048);
	assert_true(stack->in_kernel);
	assert_false(stack->cut);
	assert_string_equal(stack->end, "root");
	stack = stackmap_recording_stack(recording, seen.events[2].kernel_stack);
	assert_true(stack->cut);
	assert_string_equal(stack->end, "truncated");
	stack = stackmap_recording_stack(recording, seen.events[9].user_stack);
	assert_false(stack->in_kernel);
	assert_true(stack->cut);
	assert_string_equal(stack->end, "no_rule");
	stackmap_recording_close(&recording);
}

TEST(events_are_whole)
{
	struct stackmap_recording *recording = open_file();
	struct seen seen = read_events_of_recording(recording);
	const struct stackmap_event *event = &seen.events[0];

	assert_int_equal(event->time, 101000000000);
	assert_int_equal(event->value, 1000);
	assert_int_equal(event->source, 1);
	assert_int_equal(event->tid, 100);
	assert_int_equal(event->cpu, 0);
	assert_int_equal(event->leaf, 0);
	assert_string_equal(event->user_end, "root");
	event = &seen.events[3];
	assert_int_equal(event->leaf, 0xffffffff81002001);
	assert_int_equal(event->cpu, 1);
	event = &seen.events[7];
	assert_int_equal(event->kernel_stack, STACKMAP_NO_STACK);
	assert_string_equal(event->kernel_end, "no_room");
	assert_true(event->kernel_cut);
	assert_string_equal(event->user_end, "unreadable");
	assert_true(event->user_cut);
	event = &seen.events[8];
	assert_string_equal(event->kernel_end, "not_asked");
	assert_false(event->kernel_cut);
	assert_string_equal(event->user_end, "no_frames");
	assert_false(event->user_cut);
	stackmap_recording_close(&recording);
}

static void check_labels(struct stackmap_recording *recording, const struct stackmap_event *event,
			 const char *const *labels)
{
	const struct stackmap_frame *frames[STACKMAP_EVENT_FRAMES_MAX];
	int count = stackmap_recording_event_frames(recording, event, frames,
						    STACKMAP_EVENT_FRAMES_MAX);

	for (int i = 0; i < count; i++) {
		assert_non_null(labels[i]);
		assert_string_equal(frames[i]->label, labels[i]);
	}
	assert_null(labels[count]);
}

/* A kernel leaf comes before the kernel stack, a user leaf before the user stack. The first pc of a
 * function belongs to it, but as a return address it belongs to the function before. */
TEST(frames_of_an_event_are_in_order)
{
	struct stackmap_recording *recording = open_file();
	struct seen seen = read_events_of_recording(recording);
	const struct stackmap_frame *frames[1];

	check_labels(recording, &seen.events[0],
		     (const char *[]){"schedule", "do_syscall_64", "entry_SYSCALL_64",
				      "foo::bar(int)", "main", NULL});
	check_labels(recording, &seen.events[3],
		     (const char *[]){"do_syscall_64", "entry_SYSCALL_64", "foo::bar(int)", "main",
				      NULL});
	check_labels(recording, &seen.events[6],
		     (const char *[]){"foo::bar(int)", "foo::bar(int)", "main", NULL});
	check_labels(recording, &seen.events[8], (const char *[]){NULL});
	assert_int_equal(stackmap_recording_event_frames(recording, &seen.events[2], frames, 1), 1);
	assert_string_equal(frames[0]->label, "ext4_write");
	stackmap_recording_close(&recording);
}

TEST(only_as_many_frames_as_there_is_room_for)
{
	struct stackmap_recording *recording = open_file();
	struct seen seen = read_events_of_recording(recording);
	const struct stackmap_frame *frames[3] = {0};

	assert_int_equal(stackmap_recording_event_frames(recording, &seen.events[0], frames, 2), 2);
	assert_string_equal(frames[1]->label, "do_syscall_64");
	assert_null(frames[2]);
	assert_int_equal(stackmap_recording_event_frames(recording, &seen.events[0], NULL, 0), 0);
	stackmap_recording_close(&recording);
}

TEST(an_event_of_a_summary_says_for_how_many_it_stands)
{
	struct stackmap_recording *recording = open_file();
	struct seen seen = read_events_of_recording(recording);

	assert_false(stackmap_recording_info(recording)->is_summary);
	assert_int_equal(seen.events[0].repeats, 0);
	stackmap_recording_close(&recording);
	assert_int_equal(small_recording_write_often(path, 3, true), 0);
	recording = open_file();
	seen = read_events_of_recording(recording);
	assert_true(stackmap_recording_info(recording)->is_summary);
	assert_int_equal(seen.events[0].repeats, 2);
	assert_int_equal(seen.events[0].value, 3000);
	stackmap_recording_close(&recording);
	assert_int_equal(small_recording_write(path), 0);
}

TEST(a_frame_has_names_and_place)
{
	struct stackmap_recording *recording = open_file();
	struct seen seen = read_events_of_recording(recording);
	const struct stackmap_call_stack *user =
		stackmap_recording_stack(recording, seen.events[0].user_stack);
	const struct stackmap_frame *libc = stackmap_recording_frame(recording, user->frames[0], 1);
	const struct stackmap_frame *sh = stackmap_recording_frame(recording, user->frames[1], 1);

	assert_string_equal(libc->function, "foo::bar(int)");
	assert_int_equal(libc->offset, 0x10);
	assert_string_equal(libc->object, "/usr/lib/libc.so.6");
	assert_int_equal(libc->address, 0x2010);
	assert_null(libc->build_id);
	assert_false(libc->in_kernel);
	assert_string_equal(sh->object, "/usr/bin/sh");
	assert_int_equal(sh->build_id_bytes, 2);
	assert_memory_equal(sh->build_id, "\x12\x34", 2);
	assert_ptr_equal(stackmap_recording_frame(recording, user->frames[1], 1), sh);
	stackmap_recording_close(&recording);
}

TEST(code_without_symbols_has_a_label)
{
	struct stackmap_recording *recording = open_file();
	struct seen seen = read_events_of_recording(recording);
	const struct stackmap_call_stack *user =
		stackmap_recording_stack(recording, seen.events[2].user_stack);
	const struct stackmap_frame *frame =
		stackmap_recording_frame(recording, user->frames[1], 1);

	assert_null(frame->function);
	assert_int_equal(frame->offset, 0);
	assert_string_equal(frame->label, "libc.so.6+0x9999");
	frame = stackmap_recording_frame(recording, user->frames[3], 1);
	assert_string_equal(frame->object, "[unknown]");
	stackmap_recording_close(&recording);
}

static uint64_t count_of(const struct stackmap_count *counts, const char *name)
{
	for (; counts->name; counts++)
		if (!strcmp(counts->name, name))
			return counts->count;
	fail_msg("%s: not there", name);
	return 0;
}

TEST(the_ledger_adds_up)
{
	struct stackmap_recording *recording = open_file();
	const struct stackmap_ledger *ledger = stackmap_recording_ledger(recording);
	uint64_t lost = 0;

	for (const struct stackmap_count *cause = ledger->lost; cause->name; cause++)
		lost += cause->count;
	assert_int_equal(ledger->recorded, SMALL_EVENTS);
	assert_int_equal(ledger->produced, ledger->recorded + lost);
	assert_int_equal(count_of(ledger->lost, "ring_full"), 2);
	assert_int_equal(count_of(ledger->lost, "recursion"), 0);
	assert_int_equal(count_of(ledger->without_kernel, "no_room"), 1);
	assert_int_equal(count_of(ledger->without_user, "changed"), 1);
	assert_int_equal(count_of(ledger->user_ends, "root"), 8);
	assert_int_equal(count_of(ledger->user_ends, "no_rule"), 1);
	assert_int_equal(count_of(ledger->notes, "unknown_frames"), 1);
	stackmap_recording_close(&recording);
}

static int stop_at_third(void *arg, const struct stackmap_event *event)
{
	(void)event;
	return ++*(int *)arg == 3 ? 42 : 0;
}

TEST(the_callbacks_result_is_returned)
{
	struct stackmap_recording *recording = open_file();
	int count = 0;

	assert_int_equal(stackmap_recording_events(recording, stop_at_third, &count, NULL), 42);
	assert_int_equal(count, 3);
	stackmap_recording_close(&recording);
}

TEST(a_cut_file_gives_its_whole_blocks)
{
	struct stackmap_recording *recording;
	struct stackmap_error error;
	struct stat file;

	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(truncate(path, file.st_size - 20), 0);
	assert_int_equal(stackmap_recording_open(path, &recording, &error), 0);
	assert_non_null(stackmap_recording_damage(recording));
	assert_int_equal(read_events_of_recording(recording).events[12].time, 113000000000);
	stackmap_recording_close(&recording);
}

TEST(no_recording_is_refused)
{
	struct stackmap_recording *untouched = (void *)path, *recording = untouched;
	struct stackmap_error error;

	assert_int_equal(stackmap_recording_open("/proc/self/exe", &recording, &error), -EBADMSG);
	assert_int_equal(stackmap_recording_open("/nowhere", &recording, NULL), -ENOENT);
	assert_ptr_equal(recording, untouched);
	assert_non_null(strstr(error.message, "/proc/self/exe"));
	recording = NULL;
	stackmap_recording_close(&recording);
}

TEST_GROUP(write_file, remove_file)
