/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The joined stacks of the small recording, and the tree that they make. */
#include "export/event_stack.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../report/small_recording.h"
#include "script.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

static char path[] = "/tmp/stackmap-event-stack-XXXXXX";
static struct trace_reader *reader;
static struct event_stacks *stacks;
static struct trace_event events[SMALL_EVENTS];
static u32 event_count;

static int keep_event(void *arg, const struct trace_event *event)
{
	(void)arg;
	assert_true(event_count < SMALL_EVENTS);
	events[event_count++] = *event;
	return 0;
}

static struct event_stack stack_of(u32 event)
{
	struct event_stack stack;

	assert_int_equal(event_stacks_find(stacks, &events[event], &stack), 0);
	return stack;
}

/* "a_k b c", innermost first; kernel functions have the suffix _k */
static const char *text_of(const struct event_stack *stack)
{
	static char text[512];

	text[0] = '\0';
	for (u32 i = 0; i < stack->depth; i++) {
		strcat(text, i ? " " : "");
		strcat(text, stack->frames[i].label);
		strcat(text, stack->frames[i].in_kernel ? "_k" : "");
	}
	return text;
}

static void check_stack(u32 event, const char *expected)
{
	struct event_stack stack = stack_of(event);

	assert_string_equal(text_of(&stack), expected);
}

TEST(leaf_kernel_and_user)
{
	check_stack(0, "schedule_k do_syscall_64_k entry_SYSCALL_64_k foo::bar(int) main");
	check_stack(3, "do_syscall_64_k entry_SYSCALL_64_k foo::bar(int) main");
	check_stack(6, "foo::bar(int) foo::bar(int) main");
}

TEST(cut_sides_end_in_markers)
{
	check_stack(2, "ext4_write_k do_syscall_64_k [truncated]_k main libc.so.6+0x9999 "
		       "0x7f0000000123 [unknown]");
	check_stack(7, "vmlinux+0x500000_k [no_room]_k [unreadable]");
	check_stack(9, "schedule_k do_syscall_64_k entry_SYSCALL_64_k foo::bar(int) [no_rule]");
}

TEST(nothing_at_all)
{
	struct event_stack stack = stack_of(8);

	assert_int_equal(stack.depth, 0);
	assert_int_equal(event_stacks_marker_of_missing_stack(stacks, &events[8], &stack), 0);
	assert_string_equal(text_of(&stack), "[no_frames]");
}

/* The innermost frame of a stack is a return address only below a leaf. */
TEST(return_addresses)
{
	struct event_stack stack = stack_of(0);

	assert_false(stack.frames[0].name->return_address);
	assert_true(stack.frames[1].name->return_address);
	assert_false(stack.frames[3].name->return_address);
	stack = stack_of(6);
	assert_false(stack.frames[0].name->return_address);
	assert_true(stack.frames[1].name->return_address);
}

TEST(a_guessed_frame_has_the_address_of_its_place_in_the_range_of_its_file)
{
	struct event_stack stack = stack_of(0);
	struct frame_name name = *stack.frames[4].name;
	struct profile_place plain, guessed;

	profile_place_of_frame(reader, &name, &plain);
	name.frame |= FRAME_GUESSED;
	profile_place_of_frame(reader, &name, &guessed);
	assert_int_equal(guessed.address, plain.address);
	assert_in_range(guessed.address, guessed.range.start, guessed.range.end - 1);
}

TEST(equal_frames_have_equal_numbers)
{
	struct event_stack stack = stack_of(0);
	u32 numbers[5];

	for (u32 i = 0; i < 5; i++)
		numbers[i] = stack.frames[i].number;
	stack = stack_of(1);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(stack.frames[i].number, numbers[i]);
}

/* A frame has two numbers, as a pc and as a return address, since the names may differ. */
TEST(numbers_have_no_gaps)
{
	bool used[64] = {};
	u32 end = 0;

	for (u32 event = 0; event < SMALL_EVENTS; event++) {
		struct event_stack stack = stack_of(event);

		if (!stack.depth)
			event_stacks_marker_of_missing_stack(stacks, &events[event], &stack);
		for (u32 i = 0; i < stack.depth; i++) {
			u32 number = stack.frames[i].number;

			assert_true(number < 64);
			used[number] = true;
			end = number >= end ? number + 1 : end;
		}
	}
	for (u32 i = 0; i < end; i++)
		assert_true(used[i]);
}

#define FUNCTION "burn (calls)"

static struct trace_reader *record_function_of_runtime(u32 runtime)
{
	static const struct trace_info info = {
		.hostname = "", .command = "", .kernel = "", .machine = "", .version = ""};
	const struct trace_mapping mapping = {
		.number = MAPPING_SCRIPT(runtime),
		.kind = MAPPING_ANON,
		.path = script_runtime_name_of_mapping(MAPPING_SCRIPT(runtime))};
	const struct trace_symbol symbol = {.mapping = mapping.number,
					    .start = SCRIPT_START(1),
					    .size = SCRIPT_START(1),
					    .name = FUNCTION};
	struct memory_recording recording;
	struct trace_reader *made;

	assert_int_equal(memory_recording_begin(&recording, "script", &info, NULL), 0);
	assert_int_equal(trace_writer_mapping(recording.writer, &mapping), 0);
	assert_int_equal(trace_writer_symbol(recording.writer, &symbol), 0);
	assert_int_equal(memory_recording_end(&recording, &made, NULL), 0);
	return made;
}

/* The mark of inlined functions is in labels only. */
TEST(lines_of_scripts_have_the_name_of_the_function)
{
	for (u32 runtime = SCRIPT_NONE + 1; runtime < SCRIPT_RUNTIME_COUNT; runtime++) {
		const struct trace_event event = {.leaf = FRAME_SCRIPT(runtime, 1),
						  .kernel = TRACE_NO_STACK,
						  .kernel_reason = REASON_NOT_ASKED,
						  .user = TRACE_NO_STACK};
		bool is_inlined = strstr(script_runtime_name_of_mapping(MAPPING_SCRIPT(runtime)),
					 " inlined]");
		struct trace_reader *script = record_function_of_runtime(runtime);
		struct event_stacks *own;
		struct event_stack stack;

		assert_int_equal(event_stacks_create(script, &(struct frame_naming){}, &own), 0);
		assert_int_equal(event_stacks_find(own, &event, &stack), 0);
		assert_string_equal(stack.frames[0].label,
				    is_inlined ? FUNCTION FRAME_INLINED_MARK : FUNCTION);
		assert_string_equal(profile_line_of_frame(&stack.frames[0], 0).function, FUNCTION);
		event_stacks_free(&own);
		trace_reader_close(&script);
	}
}

static int check_node(void *arg, const struct frame_node *node)
{
	u32 *count = arg;

	assert_int_equal(node->number, ++*count);
	assert_true(node->parent < node->number);
	return 0;
}

static u32 node_of(struct frame_tree *tree, u32 event)
{
	struct event_stack stack = stack_of(event);
	u32 node;

	assert_int_equal(frame_tree_add(tree, &stack, &node), 0);
	return node;
}

TEST(a_tree_of_stacks)
{
	struct frame_tree *tree;
	u32 count = 0;

	assert_int_equal(frame_tree_create(&tree), 0);
	assert_int_equal(node_of(tree, 8), 0);
	assert_int_equal(node_of(tree, 0), 5);
	assert_int_equal(node_of(tree, 1), 5);
	assert_int_equal(node_of(tree, 3), 4); /* a prefix of the first stack */
	assert_int_equal(node_of(tree, 6), 6); /* one more node below foo::bar */
	assert_int_equal(frame_tree_each(tree, check_node, &count), 0);
	assert_int_equal(count, 6);
	frame_tree_free(&tree);
	assert_null(tree);
}

static int open_recording(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return small_recording_write(path) || trace_reader_open(path, &reader, NULL) ||
	       trace_reader_events(reader, keep_event, NULL, NULL) ||
	       event_stacks_create(reader, &(struct frame_naming){}, &stacks);
}

static int close_recording(void **state)
{
	(void)state;
	event_stacks_free(&stacks);
	trace_reader_close(&reader);
	return unlink(path);
}

TEST_GROUP(open_recording, close_recording)
