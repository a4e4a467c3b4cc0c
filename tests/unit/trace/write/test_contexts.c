/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events are read back with their trace, span and attributes; such files have version 7, or with
 * attributes 11. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data_folder.h"
#include "recording.h"
#include "thread_context.h"
#include "trace/read/names.h"
#include "trace/read/reader.h"
#include "trace_file.h"
#include "unit_test.h"

#define EVENTS 3000
#define CONTEXTS 70

struct comparison {
	const struct recording *recording;
	u32 next;
};

static int compare(void *arg, const struct trace_event *event)
{
	struct comparison *comparison = arg;
	const struct trace_event *written = &comparison->recording->events[comparison->next++];

	assert_int_equal(event->time, written->time);
	assert_int_equal(event->has_context, written->has_context);
	assert_int_equal(event->context, written->context);
	assert_int_equal(event_stands_for(event), 1);
	assert_true(event_is_single(event));
	return 0;
}

static u16 version_of_file(void)
{
	struct trace_file_header header;
	FILE *file = fopen(path, "re");

	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	fclose(file);
	return header.version;
}

TEST(contexts_come_back, make_directory, remove_directory)
{
	const struct recording_shape shape = {.seed = 3,
					      .cpus = 2,
					      .sources = 2,
					      .stacks = 9,
					      .tasks = 5,
					      .events = EVENTS,
					      .flush_every = 500,
					      .contexts = CONTEXTS};
	struct recording *recording = recording_create(&shape);
	struct comparison comparison = {.recording = recording};
	const struct trace_context *contexts;
	struct trace_reader *reader;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	assert_int_equal(version_of_file(), TRACE_FILE_VERSION_CONTEXTS);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_true(trace_reader_info(reader)->has_contexts);
	assert_false(trace_reader_info(reader)->has_attributes);
	assert_int_equal(trace_reader_contexts(reader, &contexts), CONTEXTS);
	assert_memory_equal(contexts, recording->contexts, CONTEXTS * sizeof(*contexts));
	assert_int_equal(trace_reader_events(reader, compare, &comparison, NULL), 0);
	assert_int_equal(comparison.next, EVENTS);
	trace_reader_close(&reader);
	recording_free(&recording);
}

static struct trace_writer *begin(bool has_contexts, bool has_attributes)
{
	const struct trace_info info = {.has_contexts = has_contexts,
					.has_attributes = has_attributes,
					.has_counted = 1,
					.cpus = 1,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_source source = {.name = "s", .value_unit = ""};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	return writer;
}

static struct trace_event event_with(u32 context)
{
	return (struct trace_event){.time = 1,
				    .kernel = TRACE_NO_STACK,
				    .user = TRACE_NO_STACK,
				    .has_context = 1,
				    .context = context};
}

static void put_process(struct trace_writer *writer, u32 tgid, u64 since, const char *message)
{
	const struct trace_process process = {
		.tgid = tgid,
		.since = since,
		.bytes = (u32)strlen(message),
		.message = (const u8 *)message,
	};

	assert_int_equal(trace_writer_process(writer, &process), 0);
}

static void expect_process(const struct trace_reader *reader, u32 tgid, u64 time,
			   const char *message)
{
	const struct trace_process *processes;
	u32 number = trace_reader_process(reader, tgid, time);

	trace_reader_processes(reader, &processes);
	assert_int_not_equal(number, 0);
	assert_int_equal(processes[number - 1].bytes, strlen(message));
	assert_memory_equal(processes[number - 1].message, message, strlen(message));
}

TEST(messages_of_processes_are_found_by_id_and_time, make_directory, remove_directory)
{
	const struct trace_process too_long = {.bytes = TRACE_PROCESS_BYTES_MAX + 1};
	struct trace_writer *writer = begin(true, false);
	const struct trace_process *processes;
	struct trace_reader *reader;

	put_process(writer, 70, 500, "second of 70");
	put_process(writer, 9, 100, "of 9");
	put_process(writer, 70, 200, "first of 70");
	put_process(writer, 71, 0, "");
	assert_int_equal(trace_writer_process(writer, &too_long), -EINVAL);
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_int_equal(trace_reader_processes(reader, &processes), 4);
	expect_process(reader, 9, 100, "of 9");
	expect_process(reader, 70, 499, "first of 70");
	expect_process(reader, 70, 500, "second of 70");
	expect_process(reader, 71, 1, "");
	assert_int_equal(trace_reader_process(reader, 70, 199), 0);
	assert_int_equal(trace_reader_process(reader, 9, 99), 0);
	assert_int_equal(trace_reader_process(reader, 72, 1000), 0);
	trace_reader_close(&reader);
}

/* The numbers of an event of process 70 whose thread's attributes are of a program. */
static struct attribute_numbers numbers_of_program(const struct trace_reader *reader, u32 program)
{
	const struct trace_task task = {.tgid = 70};
	const struct trace_context *contexts;
	struct trace_event event = event_with(0);

	for (u32 i = 0; i < trace_reader_contexts(reader, &contexts); i++) {
		const struct trace_attributes *attributes;

		trace_reader_attributes(reader, &attributes);
		if (attributes[contexts[i].attributes - 1].program == program)
			event.context = i;
	}
	event.time = 500;
	return trace_reader_attribute_numbers(reader, &event, &task);
}

/* A merged recording may have several messages of a process: of its programs, and of one program at
 * several times. */
TEST(a_thread_has_the_longest_message_of_its_program, make_directory, remove_directory)
{
	static const char *const messages[] = {"of program 7", "7", "longer, of program 7", "6"};
	static const u16 programs[] = {7, 7, 7, 6};
	const struct trace_process *processes;
	struct trace_reader *reader;

	for (u32 first = 0; first < 4; first++) {
		struct trace_writer *writer = begin(true, true);
		u32 number;

		for (u32 i = 0; i < 4; i++) {
			u32 turn = (first + i) % 4;

			assert_int_equal(trace_writer_process(
						 writer,
						 &(struct trace_process){
							 .tgid = 70,
							 .since = 200,
							 .program = programs[turn],
							 .bytes = (u32)strlen(messages[turn]),
							 .message = (const u8 *)messages[turn]}),
					 0);
		}
		for (u16 program = 6; program <= 8; program++) {
			struct trace_attributes attributes = {4, program, (const u8 *)"\0\2ab"};
			struct trace_context context = {};

			assert_int_equal(
				trace_writer_attributes(writer, &attributes, &context.attributes),
				0);
			assert_int_equal(trace_writer_context(writer, &context, &number), 0);
		}
		assert_int_equal(trace_writer_close(&writer), 0);
		assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
		trace_reader_processes(reader, &processes);
		for (u32 program = 6; program <= 8; program++) {
			u32 expected = program == 6 ? 3 : 2;
			u32 process = numbers_of_program(reader, program).process;

			assert_int_not_equal(process, 0);
			assert_int_equal(processes[process - 1].bytes, strlen(messages[expected]));
		}
		trace_reader_close(&reader);
	}
}

TEST(equal_contexts_have_one_number, make_directory, remove_directory)
{
	const struct trace_context first = {.trace = {1}, .span = {2}};
	const struct trace_context second = {.trace = {1}, .span = {3}};
	struct trace_writer *writer = begin(true, false);
	u32 number;

	assert_int_equal(trace_writer_context(writer, &first, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(trace_writer_context(writer, &second, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(trace_writer_context(writer, &first, &number), 0);
	assert_int_equal(number, 0);
	trace_writer_discard(&writer);
}

TEST(unknown_contexts_are_refused, make_directory, remove_directory)
{
	const struct trace_context context = {.trace = {1}, .span = {2}};
	struct trace_event event = event_with(1);
	struct trace_writer *writer = begin(true, false);
	u32 number;

	assert_int_equal(trace_writer_context(writer, &context, &number), 0);
	assert_int_equal(trace_writer_event(writer, &event), -EINVAL);
	event.context = 0;
	event.is_counted = 1;
	assert_int_equal(trace_writer_event(writer, &event), -EINVAL);
	event.is_counted = 0;
	assert_int_equal(trace_writer_event(writer, &event), 0);
	trace_writer_discard(&writer);
	writer = begin(false, true);
	assert_int_equal(trace_writer_context(writer, &context, &number), -EINVAL);
	assert_int_equal(trace_writer_event(writer, &event), -EINVAL);
	trace_writer_discard(&writer);
}

TEST(attributes_come_back_with_their_contexts, make_directory, remove_directory)
{
	const struct trace_attributes first = {4, 0, (const u8 *)"\0\2ab"};
	const struct trace_attributes other = {4, 1, first.data};
	struct trace_context context = {.trace = {1}, .span = {2}}, alone = {.attributes = 1};
	struct trace_writer *writer = begin(true, true);
	const struct trace_attributes *attributes;
	const struct trace_context *contexts;
	struct trace_event event = event_with(0);
	struct trace_reader *reader;
	char room[CONTEXT_NAME_ROOM];
	u32 number;

	assert_int_equal(trace_writer_attributes(writer, &first, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(trace_writer_attributes(writer, &other, &number), 0);
	assert_int_equal(number, 2);
	assert_int_equal(trace_writer_attributes(writer, &first, &number), 0);
	assert_int_equal(number, 1);
	context.attributes = 2;
	assert_int_equal(trace_writer_context(writer, &context, &number), 0);
	context.attributes = 1;
	assert_int_equal(trace_writer_context(writer, &context, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(trace_writer_context(writer, &alone, &number), 0);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(version_of_file(), TRACE_FILE_VERSION_ATTRIBUTES);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_true(trace_reader_info(reader)->has_attributes);
	assert_int_equal(trace_reader_attributes(reader, &attributes), 2);
	assert_int_equal(attributes[1].bytes, 4);
	assert_int_equal(attributes[1].program, 1);
	assert_memory_equal(attributes[0].data, first.data, 4);
	assert_int_equal(trace_reader_contexts(reader, &contexts), 3);
	assert_int_equal(contexts[0].attributes, 2);
	assert_memory_equal(&contexts[1], &context, sizeof(context));
	assert_string_equal(format_trace_id_name(&contexts[2], room), "-");
	assert_string_equal(format_span_id_name(&contexts[2], room), "-");
	trace_reader_close(&reader);
}

TEST(attributes_that_cannot_be_written_are_refused, make_directory, remove_directory)
{
	static const u8 bytes[ATTRIBUTE_BYTES_MAX + 1];
	struct trace_context context = {.trace = {1}, .span = {2}, .attributes = 1};
	struct trace_writer *writer = begin(true, false);
	u32 number;

	assert_int_equal(
		trace_writer_attributes(writer, &(struct trace_attributes){4, 0, bytes}, &number),
		-EINVAL);
	trace_writer_discard(&writer);
	writer = begin(true, true);
	assert_int_equal(trace_writer_context(writer, &context, &number), -EINVAL);
	assert_int_equal(
		trace_writer_attributes(writer, &(struct trace_attributes){sizeof(bytes), 0, bytes},
					&number),
		-EINVAL);
	assert_int_equal(
		trace_writer_attributes(
			writer, &(struct trace_attributes){ATTRIBUTE_BYTES_MAX, 0, bytes}, &number),
		0);
	trace_writer_discard(&writer);
}

/* Writes different attributes of `bytes` bytes until there is no room, and returns how many found
 * room. */
static u32 fill_with_attributes(u16 bytes)
{
	struct trace_writer *writer = begin(true, true);
	u8 data[ATTRIBUTE_BYTES_MAX] = {};
	u32 number, count = 0;

	for (int err = 0; count < 1U << 20; count++) {
		memcpy(data, &count, sizeof(count));
		err = trace_writer_attributes(writer, &(struct trace_attributes){bytes, 0, data},
					      &number);
		assert_true(!err || err == -E2BIG);
		if (err)
			break;
	}
	assert_int_equal(trace_writer_close(&writer), 0);
	return count;
}

TEST(attributes_beyond_the_most_bytes_find_no_room, make_directory, remove_directory)
{
	assert_int_equal(fill_with_attributes(ATTRIBUTE_BYTES_MAX),
			 (32U << 20) / (ATTRIBUTE_BYTES_MAX + 64));
	assert_int_equal(fill_with_attributes(4), (32U << 20) / (4 + 64));
}

TEST(ids_are_texts_of_hexadecimal_digits)
{
	const struct trace_context context = {.trace = {0x4b, 0xf9, [15] = 0x36},
					      .span = {0x00, 0xf0, [7] = 0xb7}};
	char room[CONTEXT_NAME_ROOM];

	assert_string_equal(format_trace_id_name(&context, room),
			    "4bf90000000000000000000000000036");
	assert_string_equal(format_span_id_name(&context, room), "00f00000000000b7");
	assert_string_equal(format_trace_id_name(NULL, room), "-");
	assert_string_equal(format_span_id_name(NULL, room), "-");
}
