/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes recordings for the views of reports: write_views CPU_CLOCK OFF_CPU [TIMES] FILE. The first
 * two are the numbers of events of the two sources; with TIMES the recording is a summary in which
 * each event counts TIMES. Stacks end in one of many functions below main(); in one of two
 * functions of the same name; once in a rare function; and twice in a recursion with more than 64
 * KiB of names, where the two stacks differ only in the outermost function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/write/writer.h"

#define SECOND 1000000000ULL
#define FUNCTION_BYTES 64
#define LEAVES 30
#define RECURSION 400 /* frames */
#define LONG_NAME 250
#define CPUS 4

enum function_number { MAIN, TWIN, OUTER_A, OUTER_B, DEEP, RARE, LEAF };
#define FUNCTIONS (LEAF + LEAVES)

enum stack_number {
	STACK_RARE,
	STACK_DEEP_A,
	STACK_DEEP_B,
	STACK_TWIN,
	STACK_OTHER_TWIN,
	STACK_LEAF
};
#define STACKS (STACK_LEAF + LEAVES)

static struct trace_info info = {
	.start_realtime = 1700000000 * SECOND,
	.start_monotonic = 1000 * SECOND,
	.cpus = CPUS,
	.bits = 14,
	.hostname = "host",
	.kernel = "6.1.0",
	.machine = "x86_64",
	.command = "stackmap record",
	.version = "0.1.0",
};

static const struct trace_source sources[] = {
	{.name = "cpu-clock", .value_unit = ""},
	{.name = "off-cpu", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
};

static const struct trace_mapping mappings[] = {
	{.number = 1, .kind = MAPPING_FILE, .path = "/usr/bin/first"},
	{.number = 2, .kind = MAPPING_FILE, .path = "/usr/lib/second.so"},
};

static const struct trace_task tasks[] = {
	{.tid = 100, .tgid = 100, .comm = "alpha"},
	{.tid = 200, .tgid = 200, .comm = "beta"},
	{.tid = 300, .tgid = 300, .comm = "gamma"},
	{.tid = 301, .tgid = 300, .comm = "gamma-thread"},
};
#define TASKS (sizeof(tasks) / sizeof(*tasks))

static u32 times = 1;

static u64 code_of(u32 mapping, u32 function)
{
	return FRAME_USER(mapping, 0x1000 + FUNCTION_BYTES * function + 8);
}

static const char *name_of(u32 function)
{
	static const char *const names[] = {
		[MAIN] = "main",       [TWIN] = "twin", [OUTER_A] = "outer_a",
		[OUTER_B] = "outer_b", [DEEP] = "deep", [RARE] = "rare",
	};
	static char name[LONG_NAME + 1];

	if (function >= LEAF)
		snprintf(name, sizeof(name), "leaf_%u", function - LEAF);
	else
		snprintf(name, sizeof(name), "%s", names[function]);
	if (function == DEEP)
		memset(name + strlen(name), '_', LONG_NAME - strlen(name));
	return name;
}

static int write_symbol(struct trace_writer *writer, u32 mapping, u32 function)
{
	const struct trace_symbol symbol = {
		.mapping = mapping,
		.start = 0x1000 + FUNCTION_BYTES * function,
		.size = FUNCTION_BYTES,
		.name = name_of(function),
	};

	return trace_writer_symbol(writer, &symbol);
}

static int write_names(struct trace_writer *writer)
{
	int err = 0;

	for (u32 i = 0; i < 2; i++)
		err = err ?: trace_writer_source(writer, &sources[i])
				?: trace_writer_mapping(writer, &mappings[i]);
	for (u32 i = 0; i < TASKS && !err; i++)
		err = trace_writer_task(writer, &tasks[i]);
	for (u32 i = 0; i < FUNCTIONS && !err; i++)
		err = write_symbol(writer, 1, i);
	return err ?: write_symbol(writer, 2, TWIN);
}

/* Sets the frames of stack `number`, the innermost first, and returns how many. */
static u32 set_frames(u32 number, u64 *frames)
{
	u32 depth = 0;

	if (number == STACK_DEEP_A || number == STACK_DEEP_B) {
		while (depth < RECURSION)
			frames[depth++] = code_of(1, DEEP);
		frames[depth++] = code_of(1, number == STACK_DEEP_A ? OUTER_A : OUTER_B);
		return depth;
	}
	if (number == STACK_RARE)
		frames[depth++] = code_of(1, RARE);
	else if (number == STACK_TWIN || number == STACK_OTHER_TWIN)
		frames[depth++] = code_of(number == STACK_TWIN ? 1 : 2, TWIN);
	else
		frames[depth++] = code_of(1, LEAF + number - STACK_LEAF);
	frames[depth++] = code_of(1, MAIN);
	return depth;
}

static int write_stack(struct trace_writer *writer, u32 number)
{
	u64 frames[RECURSION + 1];
	struct trace_stack stack = {.flags = STACK_USER, .frames = frames};
	u32 index;

	stack.depth = set_frames(number, frames);
	return trace_writer_stack(writer, &stack, &index);
}

/* Events have the stacks in turn, except for the first three stacks, which occur once. */
static u32 stack_of(u32 event)
{
	return event < STACK_TWIN ? event : STACK_TWIN + event % (STACKS - STACK_TWIN);
}

static int write_event(struct trace_writer *writer, u16 kind, u32 number)
{
	const struct trace_event event = {
		.time = 1001 * SECOND + number * 1000003ULL,
		.value = kind ? 1000ULL * times : 0,
		.repeats = times - 1,
		.kind = kind,
		.cpu = (u16)(number % CPUS),
		.tid = tasks[number / CPUS % TASKS].tid,
		.user = stack_of(number),
		.kernel = TRACE_NO_STACK,
		.kernel_reason = REASON_NO_FRAMES,
	};

	return trace_writer_event(writer, &event);
}

static int write_all(struct trace_writer *writer, const u32 *events)
{
	const u64 all = (u64)times * (events[0] + events[1]);
	const struct trace_ledger ledger = {.produced = all, .recorded = all};
	int err = write_names(writer);

	for (u32 i = 0; i < STACKS && !err; i++)
		err = write_stack(writer, i);
	for (u16 kind = 0; kind < 2; kind++)
		for (u32 i = 0; i < events[kind] && !err; i++)
			err = write_event(writer, kind, i);
	return err ?: trace_writer_ledger(writer, &ledger, NULL, 0);
}

int main(int argc, char **argv)
{
	struct trace_writer *writer;
	u32 events[2];
	int err;

	if (argc != 4 && argc != 5)
		return 2;
	for (u32 i = 0; i < 2; i++)
		events[i] = (u32)strtoul(argv[1 + i], NULL, 10);
	if (argc == 5)
		times = (u32)strtoul(argv[3], NULL, 10);
	info.is_summary = argc == 5;
	err = trace_writer_create(argv[argc - 1], &info, &writer, NULL);
	if (!err) {
		err = write_all(writer, events);
		err = trace_writer_close(&writer) ?: err;
	}
	if (err)
		fprintf(stderr, "write_views: %s\n", strerror(-err));
	return err != 0;
}
