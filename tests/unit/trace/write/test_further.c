/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events are read back with both values; such files have version 8. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data_folder.h"
#include "recording.h"
#include "trace/read/reader.h"
#include "trace_file.h"
#include "unit_test.h"

#define EVENTS 3000

static const struct recording_shape shape = {.seed = 4,
					     .cpus = 2,
					     .sources = 2,
					     .stacks = 9,
					     .tasks = 5,
					     .events = EVENTS,
					     .flush_every = 500,
					     .has_further = true};

struct comparison {
	const struct recording *recording;
	u32 next;
	bool is_swapped;
};

static int compare(void *arg, const struct trace_event *event)
{
	struct comparison *comparison = arg;
	const struct trace_event *written = &comparison->recording->events[comparison->next++];

	assert_int_equal(event->time, written->time);
	assert_true(event->value == (comparison->is_swapped ? written->further : written->value));
	assert_true(event->further == (comparison->is_swapped ? written->value : written->further));
	return 0;
}

static void read_all(struct trace_reader *reader, const struct recording *recording,
		     bool is_swapped)
{
	struct comparison comparison = {.recording = recording, .is_swapped = is_swapped};

	assert_int_equal(trace_reader_events(reader, compare, &comparison, NULL), 0);
	assert_int_equal(comparison.next, EVENTS);
}

TEST(both_values_come_back, make_directory, remove_directory)
{
	struct recording *recording = recording_create(&shape);
	struct trace_file_header header;
	const struct trace_source *sources;
	struct trace_reader *reader;
	FILE *file;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	file = fopen(path, "re");
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	fclose(file);
	assert_int_equal(header.version, TRACE_FILE_VERSION_FURTHER);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_true(trace_reader_info(reader)->has_further);
	assert_false(trace_reader_info(reader)->has_contexts);
	assert_int_equal(trace_reader_sources(reader, &sources), 2);
	assert_string_equal(sources[1].further_unit, "further");
	read_all(reader, recording, false);
	trace_reader_close(&reader);
	recording_free(&recording);
}

TEST(the_second_value_is_chosen_by_number_and_unit, make_directory, remove_directory)
{
	struct recording *recording = recording_create(&shape);
	const struct trace_source *sources;
	struct stackmap_error error;
	struct trace_reader *reader;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_int_equal(trace_reader_choose_value(reader, "3", &error), -ENOENT);
	assert_int_equal(trace_reader_choose_value(reader, "1", &error), 0);
	read_all(reader, recording, false);
	assert_int_equal(trace_reader_choose_value(reader, "further", &error), 0);
	trace_reader_sources(reader, &sources);
	assert_string_equal(sources[0].value_unit, "further");
	read_all(reader, recording, true);
	trace_reader_close(&reader);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_int_equal(trace_reader_choose_value(reader, "2", &error), 0);
	read_all(reader, recording, true);
	trace_reader_close(&reader);
	recording_free(&recording);
}

TEST(a_name_chooses_a_value_before_a_unit_does, make_directory, remove_directory)
{
	static const char *const choices[] = {"one", "other", "bytes"};
	struct recording *recording = recording_create(&shape);
	const struct trace_source *sources;
	struct stackmap_error error;
	struct trace_reader *reader;

	for (u32 i = 0; i < shape.sources; i++) {
		recording->sources[i].value_unit = "other";
		recording->sources[i].further_unit = "bytes";
	}
	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	for (u32 i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
		assert_int_equal(trace_reader_choose_value(reader, choices[i], &error), 0);
		trace_reader_sources(reader, &sources);
		assert_string_equal(sources[1].value_name, i ? "other" : "one");
		assert_string_equal(sources[1].further_name, i ? "one" : "other");
		read_all(reader, recording, i > 0);
		trace_reader_close(&reader);
	}
	recording_free(&recording);
}

TEST(a_further_value_needs_a_file_that_has_some, make_directory, remove_directory)
{
	struct trace_info info = {.has_counted = 1,
				  .cpus = 1,
				  .hostname = "",
				  .kernel = "",
				  .machine = "",
				  .command = "",
				  .version = ""};
	const struct trace_source source = {.name = "s", .value_unit = ""};
	struct trace_event event = {
		.time = 1, .kernel = TRACE_NO_STACK, .user = TRACE_NO_STACK, .further = 1};
	struct trace_writer *writer;

	for (info.has_further = 0; info.has_further < 2; info.has_further++) {
		assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
		assert_int_equal(trace_writer_source(writer, &source), 0);
		assert_int_equal(trace_writer_event(writer, &event),
				 info.has_further ? 0 : -EINVAL);
		trace_writer_discard(&writer);
	}
}
