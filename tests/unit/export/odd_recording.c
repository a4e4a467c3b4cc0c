/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Written into memory and read back. */
#include "odd_recording.h"

#include <string.h>

#include "trace/bytes/byte_buffer.h"
#include "trace/write/memory_recording.h"
#include "trace_file.h"

#define FILE_MAPPING 1
#define FUNCTION_BYTES 0x100

static char all_bytes[256];

static const char *make_name_with_all_bytes(void)
{
	for (int i = 0; i < 255; i++)
		all_bytes[i] = (char)(i + 1);
	return all_bytes;
}

static const u64 frames[ODD_FRAMES] = {FRAME_USER(FILE_MAPPING, 0x10),
				       FRAME_USER(FILE_MAPPING, FUNCTION_BYTES + 0x10)};

static int write_code(struct trace_writer *writer, const char *name)
{
	struct trace_source source = {.name = name, .value_unit = ""};
	struct trace_mapping mapping = {.number = FILE_MAPPING, .kind = MAPPING_FILE, .path = name};
	struct trace_symbol symbol = {
		.mapping = FILE_MAPPING, .size = FUNCTION_BYTES, .name = name};
	struct trace_stack stack = {.id = 1,
				    .generation = 1,
				    .flags = STACK_USER,
				    .depth = ODD_FRAMES,
				    .frames = frames};
	u32 index;
	int err = trace_writer_source(writer, &source) ?: trace_writer_mapping(writer, &mapping);

	err = err ?: trace_writer_symbol(writer, &symbol);
	symbol.start += FUNCTION_BYTES;
	return err ?: trace_writer_symbol(writer, &symbol) ?:
	       trace_writer_stack(writer, &stack, &index);
}

static int write_event(struct trace_writer *writer, u32 tid, u64 time)
{
	struct trace_event event = {.time = time,
				    .tid = tid,
				    .kernel = TRACE_NO_STACK,
				    .kernel_reason = REASON_NOT_ASKED};

	return trace_writer_event(writer, &event);
}

/* Each byte occurs at the beginning, in the middle and at the end of a name. */
static int write_task(struct trace_writer *writer, u32 tid)
{
	struct trace_task task = {.tid = tid, .tgid = tid};

	memset(task.comm, (int)tid, 5);
	task.comm[1] = task.comm[3] = 'x';
	return trace_writer_task(writer, &task) ?: write_event(writer, tid, tid);
}

static int begin(struct memory_recording *recording, const char *name)
{
	struct trace_info info = {
		.hostname = name, .command = name, .kernel = "", .machine = "", .version = ""};

	return memory_recording_begin(recording, "odd", &info, NULL)
		       ?: write_code(recording->writer, name);
}

int open_recording_with_odd_names(struct trace_reader **out)
{
	struct memory_recording recording;
	int err = begin(&recording, make_name_with_all_bytes());

	for (u32 tid = 1; tid <= ODD_EVENTS && !err; tid++)
		err = write_task(recording.writer, tid);
	return err ?: memory_recording_end(&recording, out, NULL);
}

int open_recording_with_many_tasks(u32 count, struct trace_reader **out)
{
	struct memory_recording recording;
	int err = begin(&recording, "many");

	for (u32 i = 0; i < 2 * count && !err; i++)
		err = write_event(recording.writer, i % count + 1, i);
	return err ?: memory_recording_end(&recording, out, NULL);
}

enum { WAKER = 1, PROGRAM, LIBRARY, MAPPINGS };

static int write_waker_code(struct trace_writer *writer, u32 *waker, u32 *thread)
{
	static const char *const paths[] = {
		[WAKER] = "/usr/bin/waker", [PROGRAM] = ODD_PROGRAM, [LIBRARY] = "/lib/libc.so.6"};
	const u64 waker_frames[] = {FRAME_USER(WAKER, 0x10)};
	const u64 thread_frames[] = {FRAME_USER(PROGRAM, 0x10), FRAME_USER(LIBRARY, 0x10)};
	const struct trace_stack waker_stack = {
		.flags = STACK_USER, .depth = 1, .frames = waker_frames};
	const struct trace_stack thread_stack = {
		.flags = STACK_USER, .depth = 2, .frames = thread_frames};
	int err = 0;

	for (u32 i = WAKER; i < MAPPINGS && !err; i++) {
		const struct trace_mapping mapping = {
			.number = i, .kind = MAPPING_FILE, .path = paths[i]};

		err = trace_writer_mapping(writer, &mapping);
	}
	return err ?: trace_writer_stack(writer, &waker_stack, waker)
			      ?: trace_writer_stack(writer, &thread_stack, thread);
}

static int write_waker_events(struct trace_writer *writer)
{
	const struct trace_source blocked = {.name = "offcpu-time", .value_unit = ""};
	const struct trace_source wakers = {.name = "offcpu-waker", .value_unit = ""};
	struct trace_event event = {.kernel = TRACE_NO_STACK, .kernel_reason = REASON_NOT_ASKED};
	u32 waker, thread;
	int err = trace_writer_source(writer, &blocked) ?: trace_writer_source(writer, &wakers);

	err = err ?: write_waker_code(writer, &waker, &thread);
	for (event.time = 1; event.time <= 5 && !err; event.time++) {
		event.kind = event.time <= 3;
		event.user = event.kind ? waker : thread;
		err = trace_writer_event(writer, &event);
	}
	return err;
}

int open_recording_with_wakers(struct trace_reader **out)
{
	static const struct trace_info info = {
		.hostname = "", .command = "", .kernel = "", .machine = "", .version = ""};
	struct memory_recording recording;
	int err = memory_recording_begin(&recording, "waker", &info, NULL)
			  ?: write_waker_events(recording.writer);

	return err ?: memory_recording_end(&recording, out, NULL);
}

static int write_overlapping_waits(struct trace_writer *writer)
{
	static const struct trace_source waits = {
		.name = "offcpu-time", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"};
	static const u64 times[][2] = {{1000, 2000}, {1500, 2500}, {2000, 3000}}; /* begin, end */
	struct trace_event event = {.tid = 1,
				    .kernel = TRACE_NO_STACK,
				    .kernel_reason = REASON_NOT_ASKED,
				    .user = TRACE_NO_STACK,
				    .user_reason = REASON_NOT_ASKED};
	int err = trace_writer_source(writer, &waits);

	for (u32 i = 0; i < sizeof(times) / sizeof(*times) && !err; i++) {
		event.time = times[i][1];
		event.value = times[i][1] - times[i][0];
		err = trace_writer_event(writer, &event);
	}
	return err;
}

int open_recording_with_overlapping_waits(struct trace_reader **out)
{
	static const struct trace_info info = {
		.hostname = "", .command = "", .kernel = "", .machine = "", .version = ""};
	struct memory_recording recording;
	int err = memory_recording_begin(&recording, "overlap", &info, NULL)
			  ?: write_overlapping_waits(recording.writer);

	return err ?: memory_recording_end(&recording, out, NULL);
}

#define PROCESS 1000000

/* Appends a field of bytes, whose number is below 16. */
static void put_field(struct byte_buffer *to, u32 number, const void *data, size_t bytes)
{
	byte_buffer_varint(to, number << 3 | 2);
	byte_buffer_varint(to, bytes);
	byte_buffer_append(to, data, bytes);
}

static int write_longest_message(struct trace_writer *writer)
{
	static const char service[] = "\x0a\x0cservice.name\x12\x06\x0a\x04" ODD_SERVICE;
	static const char without_value[] = "\x0a\x01k";
	struct byte_buffer resource = {}, message = {};
	struct trace_process process = {.tgid = PROCESS};
	int err;

	put_field(&resource, 1, service, sizeof(service) - 1);
	while (resource.used < TRACE_PROCESS_BYTES_MAX - 16)
		put_field(&resource, 1, without_value, sizeof(without_value) - 1);
	put_field(&message, 1, resource.data, resource.used);
	process.message = message.data;
	process.bytes = (u32)message.used;
	err = trace_writer_process(writer, &process);
	byte_buffer_free(&resource);
	byte_buffer_free(&message);
	return err;
}

int open_recording_with_published_attributes(u32 threads, struct trace_reader **out)
{
	static const struct trace_info info = {.has_contexts = 1,
					       .hostname = "",
					       .command = "",
					       .kernel = "",
					       .machine = "",
					       .version = ""};
	struct memory_recording recording;
	int err = memory_recording_begin(&recording, "published", &info, NULL)
			  ?: write_code(recording.writer, "published")
			  ?: write_longest_message(recording.writer);

	for (u32 tid = 1; tid <= threads && !err; tid++) {
		const struct trace_task task = {.tid = tid, .tgid = PROCESS, .comm = "thread"};

		err = trace_writer_task(recording.writer, &task)
			      ?: write_event(recording.writer, tid, tid);
	}
	return err ?: memory_recording_end(&recording, out, NULL);
}
