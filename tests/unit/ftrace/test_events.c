/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Known entries of a ring become events with their stacks, and a ledger of the lost ones. */
#include "ftrace/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrace/stacks.h"
#include "stack_map_bin.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

#define KERNEL 0xffffffff81000000ULL
#define EVENTS_MAX 16

enum stack_ids {
	TASK_STACK = 7,
	IRQ_STACK = 9,
	USER_STACK = 11,
	MARKED_STACK = 12,
	RESET_STACK = 99
};

static char folder[] = "/tmp/stackmap-ftrace-XXXXXX";

struct imported {
	struct memory_recording recording;
	struct stack_files *files;
	struct ftrace_events *events;
	struct trace_reader *reader;
	struct trace_event read[EVENTS_MAX];
	u32 count;
	u64 unresolved, unknown_gaps;
};

static void put_stack(FILE *to, u32 id, u32 depth, const u64 *frames)
{
	const struct stack_map_bin_record record = {.stack_id = id, .depth = depth, .ref_count = 1};

	assert_int_equal(fwrite(&record, sizeof(record), 1, to), 1);
	assert_int_equal(fwrite(frames, sizeof(*frames), depth, to), depth);
}

static FILE *open_file(const char *name)
{
	char path[64];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = fopen(path, "w");
	assert_non_null(to);
	return to;
}

static int make_folder(void **state)
{
	const struct stack_map_bin_header header = {STACK_MAP_BIN_MAGIC, STACK_MAP_BIN_VERSION, 4,
						    0};
	FILE *to;

	(void)state;
	assert_non_null(mkdtemp(folder));
	to = open_file("stack_map_bin");
	assert_int_equal(fwrite(&header, sizeof(header), 1, to), 1);
	put_stack(to, TASK_STACK, 2, (const u64[]){KERNEL + 1, KERNEL + 2});
	put_stack(to, IRQ_STACK, 1, (const u64[]){KERNEL + 3});
	put_stack(to, USER_STACK, 3,
		  (const u64[]){FRAME_USER(1, 0x10), FRAME_USER(2, 0x20), FRAME_USER(3, 0x30)});
	put_stack(to, MARKED_STACK, 3, (const u64[]){0x7fffffff, 0, KERNEL});
	fclose(to);
	to = open_file("stack_map_mappings");
	fputs("kernel vmlinux 0xffffffff81000000-0xffffffff82000000 -\n"
	      "1 aabb /bin/program\n3 - [vdso32]\n",
	      to);
	fclose(to);
	return 0;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void begin(struct imported *imported)
{
	const struct trace_info info = {.cpus = 2,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct ftrace_entry source = {.what = FTRACE_SOURCE};

	*imported = (struct imported){};
	assert_int_equal(memory_recording_begin(&imported->recording, "test", &info, NULL), 0);
	assert_int_equal(stack_files_open(folder, &imported->files, NULL), 0);
	assert_int_equal(ftrace_events_create(imported->recording.writer, imported->files, NULL,
					      NULL, &imported->events),
			 0);
	assert_int_equal(ftrace_events_take(imported->events, &source, "sched:one"), 0);
}

static int keep_event(void *arg, const struct trace_event *event)
{
	struct imported *imported = arg;

	assert_true(imported->count < EVENTS_MAX);
	imported->read[imported->count++] = *event;
	return 0;
}

static void end(struct imported *imported)
{
	assert_int_equal(ftrace_events_end(imported->events), 0);
	imported->unresolved = ftrace_events_unresolved_stacks(imported->events);
	imported->unknown_gaps = ftrace_events_unknown_gaps(imported->events);
	assert_int_equal(memory_recording_end(&imported->recording, &imported->reader, NULL), 0);
	assert_int_equal(trace_reader_events(imported->reader, keep_event, imported, NULL), 0);
}

static void clear(struct imported *imported)
{
	trace_reader_close(&imported->reader);
	ftrace_events_free(&imported->events);
	stack_files_free(&imported->files);
}

static void take_ftrace_entry(struct imported *imported, struct ftrace_entry entry)
{
	assert_int_equal(ftrace_events_take(imported->events, &entry, NULL), 0);
}

static const struct trace_stack *stack_at(const struct imported *imported, u32 index)
{
	const struct trace_stack *stacks;

	assert_true(index < trace_reader_stacks(imported->reader, &stacks));
	return &stacks[index];
}

/* Checks that recorded and lost events add up, and that each event has a user stack or a reason. */
static const struct trace_ledger *balanced_ledger(const struct imported *imported)
{
	const struct trace_ledger *ledger = trace_reader_ledger(imported->reader);
	u64 lost = 0, users = 0;

	assert_non_null(ledger);
	for (u32 i = 0; i < LOST_COUNT; i++)
		lost += ledger->lost[i];
	for (u32 i = 0; i < REASON_COUNT; i++)
		users += ledger->user_reasons[i];
	for (u32 i = 0; i < STOP_COUNT; i++)
		users += ledger->user_stops[i];
	assert_true(ledger->produced == ledger->recorded + lost);
	assert_true(ledger->recorded == users);
	assert_true(ledger->recorded == imported->count);
	return ledger;
}

#define EVENT(at, thread, ...)                                                                     \
	((struct ftrace_entry){.what = FTRACE_EVENT, .time = (at), .tid = (thread), __VA_ARGS__})
#define STACK(stack, thread, ...)                                                                  \
	((struct ftrace_entry){                                                                    \
		.what = FTRACE_STACK_ID, .id = (stack), .tid = (thread), __VA_ARGS__})
#define COOKIE(number, thread, ...)                                                                \
	((struct ftrace_entry){                                                                    \
		.what = FTRACE_COOKIE, .value = (number), .tid = (thread), __VA_ARGS__})
#define ANSWER(number, thread, ...)                                                                \
	((struct ftrace_entry){                                                                    \
		.what = FTRACE_ANSWER, .value = (number), .tid = (thread), __VA_ARGS__})

/* An interrupt comes between an event and its stack. */
TEST(stacks_find_their_events)
{
	struct imported imported;

	begin(&imported);
	take_ftrace_entry(&imported, EVENT(10, 5));
	take_ftrace_entry(&imported, EVENT(11, 5, .context = FTRACE_HARDIRQ));
	take_ftrace_entry(&imported, STACK(IRQ_STACK, 5, .context = FTRACE_HARDIRQ));
	take_ftrace_entry(&imported, STACK(TASK_STACK, 5));
	take_ftrace_entry(&imported, EVENT(12, 5, .cpu = 1));
	take_ftrace_entry(&imported, EVENT(13, 6));
	take_ftrace_entry(&imported, STACK(TASK_STACK, 6));
	end(&imported);
	assert_int_equal(imported.count, 4);
	assert_int_equal(stack_at(&imported, imported.read[0].kernel)->id, TASK_STACK);
	assert_int_equal(stack_at(&imported, imported.read[1].kernel)->id, IRQ_STACK);
	assert_int_equal(imported.read[2].kernel, TRACE_NO_STACK);
	assert_int_equal(imported.read[2].kernel_reason, REASON_NOT_ASKED);
	assert_int_equal(imported.read[3].kernel, imported.read[0].kernel);
	assert_int_equal(balanced_ledger(&imported)->kernel_reasons[REASON_NOT_ASKED], 1);
	clear(&imported);
}

/* A stack of another thread, or of a lost event, belongs to no event. */
TEST(stacks_of_lost_events)
{
	struct imported imported;

	begin(&imported);
	take_ftrace_entry(&imported, STACK(TASK_STACK, 5));
	take_ftrace_entry(&imported, EVENT(10, 5));
	take_ftrace_entry(&imported, STACK(TASK_STACK, 6));
	take_ftrace_entry(&imported, EVENT(11, 5));
	take_ftrace_entry(&imported, (struct ftrace_entry){.what = FTRACE_GAP});
	take_ftrace_entry(
		&imported,
		(struct ftrace_entry){.what = FTRACE_LOST, .value = 3, .reason = LOST_OVERWRITTEN});
	take_ftrace_entry(&imported, STACK(TASK_STACK, 5));
	take_ftrace_entry(
		&imported,
		(struct ftrace_entry){.what = FTRACE_LOST, .cpu = 1, .reason = LOST_OVERWRITTEN});
	end(&imported);
	assert_int_equal(imported.count, 2);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(imported.read[i].kernel, TRACE_NO_STACK);
	assert_int_equal(balanced_ledger(&imported)->lost[LOST_OVERWRITTEN], 4);
	assert_int_equal(imported.unknown_gaps, 1);
	clear(&imported);
}

TEST(an_id_of_an_earlier_map)
{
	struct imported imported;

	begin(&imported);
	take_ftrace_entry(&imported, EVENT(10, 5));
	take_ftrace_entry(&imported, STACK(RESET_STACK, 5));
	take_ftrace_entry(&imported, COOKIE(1, 5));
	take_ftrace_entry(&imported, ANSWER(1, 5, .id = RESET_STACK));
	end(&imported);
	assert_int_equal(imported.read[0].kernel, TRACE_NO_STACK);
	assert_int_equal(imported.read[0].kernel_reason, REASON_GONE);
	assert_int_equal(imported.read[0].user_reason, REASON_GONE);
	assert_int_equal(imported.unresolved, 2);
	balanced_ledger(&imported);
	clear(&imported);
}

/* Deferred stacks come behind their events, between them, or from the task that stopped tracing;
 * they have a stack or a reason, or never come. */
TEST(answers)
{
	struct imported imported;

	begin(&imported);
	take_ftrace_entry(&imported, EVENT(10, 5));
	take_ftrace_entry(&imported, COOKIE(1, 5));
	take_ftrace_entry(&imported, EVENT(11, 5));
	take_ftrace_entry(&imported, COOKIE(1, 5));
	take_ftrace_entry(&imported, ANSWER(1, 5, .id = USER_STACK));
	take_ftrace_entry(&imported, EVENT(12, 5));
	take_ftrace_entry(&imported, COOKIE(1, 5));
	take_ftrace_entry(&imported, EVENT(13, 6));
	take_ftrace_entry(&imported, COOKIE(2, 6));
	take_ftrace_entry(&imported, EVENT(14, 7));
	take_ftrace_entry(&imported, COOKIE(3, 7));
	take_ftrace_entry(&imported, ANSWER(2, 1, .reason = FTRACE_CHANGED));
	end(&imported);
	assert_int_equal(imported.count, 5);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(stack_at(&imported, imported.read[i].user)->id, USER_STACK);
	assert_int_equal(imported.read[3].user_reason, REASON_CHANGED);
	assert_int_equal(imported.read[4].user_reason, REASON_UNANSWERED);
	assert_int_equal(balanced_ledger(&imported)->user_stops[STOP_ROOT], 3);
	assert_int_equal(balanced_ledger(&imported)->user_reasons[REASON_UNANSWERED], 1);
	assert_string_equal(trace_reader_mapping(imported.reader, 1)->path, "/bin/program");
	assert_int_equal(trace_reader_mapping(imported.reader, 1)->build_id[1], 0xbb);
	assert_null(trace_reader_mapping(imported.reader, 2));
	assert_int_equal(trace_reader_mapping(imported.reader, 3)->kind, MAPPING_VDSO);
	clear(&imported);
}

/* A cookie has 32 bits and is reused: its former events are complete then. */
TEST(a_cookie_that_comes_again)
{
	struct imported imported;

	begin(&imported);
	take_ftrace_entry(&imported, EVENT(10, 5));
	take_ftrace_entry(&imported, COOKIE(1, 5));
	take_ftrace_entry(&imported, EVENT(11, 6));
	take_ftrace_entry(&imported, COOKIE(1, 6));
	take_ftrace_entry(&imported, EVENT(12, 6));
	take_ftrace_entry(&imported, ANSWER(1, 6, .id = USER_STACK));
	end(&imported);
	assert_int_equal(imported.read[0].user, TRACE_NO_STACK);
	assert_int_equal(imported.read[0].user_reason, REASON_UNANSWERED);
	assert_int_equal(stack_at(&imported, imported.read[1].user)->id, USER_STACK);
	balanced_ledger(&imported);
	clear(&imported);
}

TEST(invalid_addresses_are_left_out)
{
	struct imported imported;
	const struct trace_stack *stack;

	begin(&imported);
	take_ftrace_entry(&imported, EVENT(10, 5));
	take_ftrace_entry(&imported, STACK(MARKED_STACK, 5));
	assert_true(stack_files_lack_kernel_addresses(imported.files));
	end(&imported);
	stack = stack_at(&imported, imported.read[0].kernel);
	assert_int_equal(stack->depth, 3);
	assert_true(stack->frames[0] == FTRACE_TRAMPOLINE_FRAME);
	assert_true(stack->frames[1] == FTRACE_HIDDEN_FRAME);
	assert_true(stack->frames[2] == KERNEL);
	assert_int_equal(stack->flags & STACK_USER, 0);
	clear(&imported);
}

/* The kernel records whole stacks if the map has refused them. A stack that is deeper than the
 * limit is cut, and marked as cut. */
TEST(whole_stacks)
{
	u64 deep[600], user[] = {0x7f0012345678ULL};
	struct ftrace_entry entry = {.what = FTRACE_STACK, .tid = 5, .bytes = sizeof(deep)};
	struct imported imported;
	const struct trace_stack *stack;

	for (u32 i = 0; i < 600; i++)
		deep[i] = KERNEL + i;
	begin(&imported);
	take_ftrace_entry(&imported, EVENT(10, 5));
	assert_int_equal(ftrace_events_take(imported.events, &entry, deep), 0);
	entry.what = FTRACE_USER_STACK;
	entry.bytes = sizeof(user);
	assert_int_equal(ftrace_events_take(imported.events, &entry, user), 0);
	end(&imported);
	stack = stack_at(&imported, imported.read[0].kernel);
	assert_int_equal(stack->depth, STACK_USER_DEPTH_MAX);
	assert_true(stack->flags & STACK_TRUNCATED);
	stack = stack_at(&imported, imported.read[0].user);
	assert_true(stack->frames[0] == FRAME_USER(MAPPING_UNKNOWN, user[0]));
	assert_int_equal(balanced_ledger(&imported)->notes[NOTE_UNKNOWN_FRAMES], 1);
	clear(&imported);
}

TEST(senseless_entries_are_refused)
{
	struct ftrace_entry unknown_kind = EVENT(10, 5, .kind = 1);
	struct ftrace_entry unknown_cause = {.what = FTRACE_LOST, .reason = LOST_COUNT};
	struct imported imported;

	begin(&imported);
	assert_int_equal(ftrace_events_take(imported.events, &unknown_kind, NULL), -EBADMSG);
	assert_int_equal(ftrace_events_take(imported.events, &unknown_cause, NULL), -EBADMSG);
	end(&imported);
	assert_int_equal(imported.count, 0);
	clear(&imported);
}

TEST_GROUP(make_folder, remove_folder)
