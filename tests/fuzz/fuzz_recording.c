/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libFuzzer target of stackmap/recording.h: for any bytes, all results of the public functions can
 * be read and obey the header.
 */
#include "fuzz_recording.h"
#include "stackmap/recording.h"

static volatile size_t read_bytes;

static void read_text(const char *text)
{
	read_bytes += strlen(text);
}

static void check(int holds)
{
	if (!holds)
		abort();
}

static void read_counts(const struct stackmap_count *counts)
{
	for (; counts->name; counts++) {
		read_text(counts->name);
		read_text(counts->meaning);
	}
}

static void read_ledger(const struct stackmap_ledger *ledger)
{
	if (!ledger)
		return;
	read_counts(ledger->lost);
	read_counts(ledger->without_kernel);
	read_counts(ledger->without_user);
	read_counts(ledger->user_ends);
	read_counts(ledger->notes);
}

static void read_frame(const struct stackmap_frame *frame)
{
	if (!frame) /* a small file may unfold into more than the memory */
		return;
	read_text(frame->label);
	read_text(frame->object);
	if (frame->function)
		read_text(frame->function);
	for (uint32_t i = 0; i < frame->build_id_bytes; i++)
		read_bytes += frame->build_id[i];
}

static void read_stacks(struct stackmap_recording *recording)
{
	uint32_t count = stackmap_recording_stack_count(recording);

	for (uint32_t i = 0; i < count; i++) {
		const struct stackmap_call_stack *stack = stackmap_recording_stack(recording, i);

		check(stack->depth > 0);
		read_text(stack->end);
		for (uint32_t f = 0; f < stack->depth; f++)
			read_frame(stackmap_recording_frame(recording, stack->frames[f], f & 1));
	}
	check(!stackmap_recording_stack(recording, count));
}

static void read_tasks(const struct stackmap_recording *recording)
{
	uint32_t count = stackmap_recording_task_count(recording);

	for (uint32_t i = 0; i < count; i++) {
		read_text(stackmap_recording_task(recording, i)->comm);
		read_text(stackmap_recording_task(recording, i)->cgroup);
	}
	check(!stackmap_recording_task(recording, count));
}

static void read_sources(const struct stackmap_recording *recording)
{
	uint32_t count = stackmap_recording_source_count(recording);

	for (uint32_t i = 0; i < count; i++) {
		read_text(stackmap_recording_source(recording, i)->name);
		read_text(stackmap_recording_source(recording, i)->unit);
	}
	check(!stackmap_recording_source(recording, count));
}

static void read_info(const struct stackmap_recording *recording)
{
	const struct stackmap_recording_info *info = stackmap_recording_info(recording);

	read_text(info->hostname);
	read_text(info->kernel);
	read_text(info->machine);
	read_text(info->command);
	read_text(info->version);
}

static int read_event(void *arg, const struct stackmap_event *event)
{
	const struct stackmap_frame *frames[STACKMAP_EVENT_FRAMES_MAX];
	struct stackmap_recording *recording = arg;
	const struct stackmap_task *task =
		stackmap_recording_task_at(recording, event->tid, event->time);
	int count = stackmap_recording_event_frames(recording, event, frames,
						    STACKMAP_EVENT_FRAMES_MAX);

	check(count <= STACKMAP_EVENT_FRAMES_MAX);
	for (int i = 0; i < count; i++)
		read_frame(frames[i]);
	if (task)
		read_text(task->comm);
	read_text(stackmap_recording_source(recording, event->source)->name);
	read_text(event->kernel_end);
	read_text(event->user_end);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct repaired_file file = repaired_file(data, bytes);
	struct stackmap_recording *recording;

	if (!stackmap_recording_open(file.path, &recording, NULL)) {
		read_info(recording);
		read_sources(recording);
		read_tasks(recording);
		read_stacks(recording);
		read_ledger(stackmap_recording_ledger(recording));
		stackmap_recording_events(recording, read_event, recording, NULL);
		if (stackmap_recording_damage(recording))
			read_text(stackmap_recording_damage(recording)->message);
		stackmap_recording_close(&recording);
	}
	close(file.fd);
	return 0;
}
