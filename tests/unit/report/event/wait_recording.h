/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording in memory of waits with kernel stacks, and its names. Each test program has one. */
#ifndef TESTS_WAIT_RECORDING_H
#define TESTS_WAIT_RECORDING_H

#include "ring.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

#define STACK_FUNCTIONS 3
#define FUNCTION(index) (0xffffffff81000000ULL + 0x100 * (index))

/* Names of kernel functions, innermost first. */
typedef const char *const stack_functions[STACK_FUNCTIONS];

static struct memory_recording recording;
static struct trace_reader *reader;
static struct frame_names *names;
static struct event_paths *paths;

static int write_stack(struct trace_writer *writer, u32 number, stack_functions *functions)
{
	u64 frames[STACK_FUNCTIONS];
	const struct trace_stack stack = {
		.id = number + 1, .generation = 1, .depth = STACK_FUNCTIONS, .frames = frames};
	u32 index;
	int err = 0;

	for (u32 i = 0; i < STACK_FUNCTIONS && !err; i++) {
		const struct trace_symbol symbol = {.start = FUNCTION(STACK_FUNCTIONS * number + i),
						    .size = 0x100,
						    .name = (*functions)[i]};

		frames[i] = symbol.start + 8;
		err = trace_writer_symbol(writer, &symbol);
	}
	return err ?: trace_writer_stack(writer, &stack, &index);
}

static void wait_recording_begin(const char *name, stack_functions *functions, u32 stacks)
{
	const struct trace_info info = {
		.hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};

	assert_int_equal(memory_recording_begin(&recording, name, &info, NULL), 0);
	for (u32 i = 0; i < stacks; i++)
		assert_int_equal(write_stack(recording.writer, i, &functions[i]), 0);
}

/* `unit`: unit of the values of all events. */
static void wait_recording_source(const char *name, const char *unit)
{
	const struct trace_source source = {
		.name = name, .extras = TRACE_EXTRA_VALUE, .value_unit = unit};

	assert_int_equal(trace_writer_source(recording.writer, &source), 0);
}

/* Threads have one letter as their name: "a" is thread 1. */
static void wait_recording_thread(u32 tid, u32 tgid)
{
	const struct trace_task task = {.tid = tid, .tgid = tgid, .comm = {(char)('a' + tid - 1)}};

	assert_int_equal(trace_writer_task(recording.writer, &task), 0);
}

static void wait_recording_event(u32 kind, u32 tid, u64 time, u64 value, u32 stack)
{
	const struct trace_event event = {.kind = (u16)kind,
					  .tid = tid,
					  .time = time,
					  .value = value,
					  .kernel = stack,
					  .user = TRACE_NO_STACK,
					  .user_reason = REASON_NO_FRAMES};

	assert_int_equal(trace_writer_event(recording.writer, &event), 0);
}

static void wait_recording_end(void)
{
	static const struct frame_naming plain;

	assert_int_equal(memory_recording_end(&recording, &reader, NULL), 0);
	assert_int_equal(frame_names_create(reader, &plain, &names), 0);
	assert_int_equal(event_paths_create(reader, names, &paths), 0);
}

static void wait_recording_clear(void)
{
	event_paths_free(&paths);
	frame_names_free(&names);
	trace_reader_close(&reader);
}

#endif
