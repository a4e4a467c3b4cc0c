/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libFuzzer target of the trace reader: any bytes give a recording, a damaged recording or an
 * error. The events are read with their first value, then with their second one.
 */
#include <errno.h>

#include "fuzz_recording.h"
#include "trace/read/names.h"
#include "trace/read/reader.h"

struct sums {
	const struct trace_reader *reader;
	const struct trace_stack *stacks;
	u32 stack_count, source_count;
	u32 context_count;
	bool may_repeat;
	u64 last_time;
};

static void look_at_task(const struct trace_reader *reader, const struct trace_task *task)
{
	char room[TRACE_CGROUP_ROOM];

	if (task && !*trace_cgroup_name(reader, task->cgroup, room))
		abort();
}

/* Checks the reader's guarantees for each event. */
static int check_event(void *arg, const struct trace_event *event)
{
	struct sums *sums = arg;

	if (event->time < sums->last_time || event->kind >= sums->source_count)
		abort();
	if (event->repeats && !sums->may_repeat)
		abort();
	if (event->has_context && event->context >= sums->context_count)
		abort();
	if (event->kernel != TRACE_NO_STACK && event->kernel >= sums->stack_count)
		abort();
	if (event->user != TRACE_NO_STACK && event->user >= sums->stack_count)
		abort();
	sums->last_time = event->time;
	look_at_task(sums->reader, trace_reader_task(sums->reader, event->tid, event->time));
	return 0;
}

static void look_at_stacks(const struct sums *sums)
{
	for (u32 i = 0; i < sums->stack_count; i++) {
		const struct trace_stack *stack = &sums->stacks[i];

		if (!stack->depth || STACK_STOP(stack->flags) >= STOP_COUNT)
			abort();
		for (u32 f = 0; f < stack->depth; f++)
			trace_reader_symbol(sums->reader, stack->frames[f], f > 0);
		trace_reader_mapping(sums->reader, FRAME_MAPPING(stack->frames[0]));
	}
}

/* Reads the events again, of which some have the other one of two values now. */
static void look_at_other_value(struct trace_reader *reader, struct sums *sums)
{
	static const char *const choices[] = {"2", "1", "other"};
	struct stackmap_error error;

	for (u32 i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		int err = trace_reader_choose_value(reader, choices[i], &error);

		if (err && err != -ENOENT)
			abort();
	}
	sums->last_time = 0;
	trace_reader_events(reader, check_event, sums, NULL);
}

static void look_at_processes(struct trace_reader *reader)
{
	const struct trace_process *processes;
	u32 count = trace_reader_processes(reader, &processes);
	static volatile u8 sum;

	for (u32 i = 0; i < count; i++) {
		for (u32 k = 0; k < processes[i].bytes; k++)
			sum ^= processes[i].message[k];
		if (!trace_reader_process(reader, processes[i].tgid, processes[i].since))
			abort();
	}
}

static void look_at_attributes(const struct trace_reader *reader)
{
	const struct trace_attributes *attributes;
	const struct trace_context *contexts;
	u32 count = trace_reader_attributes(reader, &attributes);
	u32 context_count = trace_reader_contexts(reader, &contexts);
	volatile u8 sum = 0;

	for (u32 i = 0; i < count; i++)
		for (u32 k = 0; k < attributes[i].bytes; k++)
			sum ^= attributes[i].data[k];
	for (u32 i = 0; i < context_count; i++)
		if (contexts[i].attributes > count)
			abort();
}

static void read_all_of_recording(struct trace_reader *reader)
{
	const struct trace_info *info = trace_reader_info(reader);
	struct sums sums = {.reader = reader, .may_repeat = info->is_summary || info->has_counted};
	const struct trace_context *contexts;
	const struct trace_source *sources;

	sums.stack_count = trace_reader_stacks(reader, &sums.stacks);
	sums.context_count = trace_reader_contexts(reader, &contexts);
	look_at_processes(reader);
	look_at_attributes(reader);
	sums.source_count = trace_reader_sources(reader, &sources);
	look_at_stacks(&sums);
	trace_reader_events(reader, check_event, &sums, NULL);
	look_at_other_value(reader, &sums);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct trace_reader *reader;
	struct stackmap_error error;
	struct repaired_file file = repaired_file(data, bytes);

	if (!trace_reader_open(file.path, &reader, &error)) {
		read_all_of_recording(reader);
		trace_reader_close(&reader);
	}
	close(file.fd);
	return 0;
}
