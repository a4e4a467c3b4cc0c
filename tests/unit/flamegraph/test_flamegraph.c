/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kind of frame that each name is shown as. Frames without a name are missing, as the table of
 * functions leaves them out. */
#include "flamegraph/flamegraph.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "script.h"
#include "trace/write/writer.h"
#include "unit_test.h"

#define DATA "<script type=\"application/json\" id=\"data\">"

static const struct trace_info info = {
	.hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
static const struct trace_source source = {.name = "cpu-clock", .value_unit = ""};

enum { FILE_OF_A_PATH = 1, FILE_WITHOUT_PATH, GENERATED, VDSO, SCRIPT };

static const struct trace_mapping mappings[] = {
	{.number = FILE_OF_A_PATH, .kind = MAPPING_FILE, .path = "/usr/bin/program"},
	{.number = FILE_WITHOUT_PATH, .kind = MAPPING_FILE, .path = ""},
	{.number = GENERATED, .kind = MAPPING_ANON, .tgid = 100, .path = "[anon]"},
	{.number = VDSO, .kind = MAPPING_VDSO, .path = "[vdso]"},
	{.number = SCRIPT, .kind = MAPPING_ANON, .path = SCRIPT_NAME_CPYTHON},
};

static const struct trace_symbol symbols[] = {
	{FILE_OF_A_PATH, 0x1000, 0x100, "in_file"},
	{FILE_WITHOUT_PATH, 0x1000, 0x100, "in_file_without_path"},
	{GENERATED, 0x1000, 0x100, "generated"},
	{VDSO, 0x1000, 0x100, "in_vdso"},
	{SCRIPT, 0x1000, 0x100, "in_script"},
};

static const u64 frames[] = {
	FRAME_USER(FILE_OF_A_PATH, 0x1010),
	FRAME_USER(FILE_OF_A_PATH, 0x5010),
	FRAME_USER(FILE_WITHOUT_PATH, 0x1010),
	FRAME_USER(FILE_WITHOUT_PATH, 0x5010),
	FRAME_USER(GENERATED, 0x1010),
	FRAME_USER(VDSO, 0x1010),
	FRAME_USER(SCRIPT, 0x1010),
	FRAME_USER(MAPPING_UNKNOWN, 0x1010),
};

static const struct {
	const char *name, *kind;
} expected[] = {
	{"in_file", "user"},	      {"program+0x5010", "user"}, {"in_file_without_path", "user"},
	{"[unknown]+0x5010", "user"}, {"generated", "jit"},	  {"in_vdso", "user"},
	{"in_script", "script"},      {"[unknown]", "missing"},
};

static int write_names(struct trace_writer *writer)
{
	int err = trace_writer_source(writer, &source);

	for (size_t i = 0; i < sizeof(mappings) / sizeof(*mappings) && !err; i++)
		err = trace_writer_mapping(writer, &mappings[i]);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols) && !err; i++)
		err = trace_writer_symbol(writer, &symbols[i]);
	return err;
}

static void write_recording(const char *path)
{
	const struct trace_stack stack = {
		.flags = STACK_USER, .depth = sizeof(frames) / sizeof(*frames), .frames = frames};
	struct trace_event event = {.kernel = TRACE_NO_STACK, .kernel_reason = REASON_NO_FRAMES};
	struct trace_writer *writer;

	unlink(path); /* otherwise the writer would keep the old file under another name */
	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(write_names(writer), 0);
	assert_int_equal(trace_writer_stack(writer, &stack, &event.user), 0);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

static void draw(const char *path, FILE *to)
{
	const struct event_filter all = {};
	const struct frame_naming naming = {0};
	struct trace_reader *reader;
	struct flamegraph *graph;

	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_int_equal(flamegraph_create(&naming, 1, &graph), 0);
	assert_int_equal(flamegraph_add(graph, reader, "", &all, NULL), 0);
	assert_int_equal(flamegraph_write(graph, to, NULL), 0);
	flamegraph_free(&graph);
	trace_reader_close(&reader);
}

static json_t *data_of(const char *path)
{
	size_t bytes;
	char *page, *begin;
	FILE *to = open_memstream(&page, &bytes);
	json_t *data;

	draw(path, to);
	fclose(to);
	begin = strstr(page, DATA) + strlen(DATA);
	data = json_loadb(begin, (size_t)(strstr(begin, "</script") - begin), 0, NULL);
	assert_non_null(data);
	free(page);
	return data;
}

static const char *kind_of(const json_t *data, size_t frame)
{
	const json_t *kinds = json_object_get(json_object_get(data, "frames"), "kind");
	json_int_t kind = json_integer_value(json_array_get(kinds, frame));

	return json_string_value(json_array_get(json_object_get(data, "kinds"), (size_t)kind));
}

/* Other frames may have the same name: a task without a name is called [unknown], too. */
static bool has_frame(const json_t *data, const char *name, const char *kind)
{
	const json_t *names = json_object_get(json_object_get(data, "frames"), "name"), *text;
	size_t i;

	json_array_foreach(names, i, text)
	{
		if (strcmp(json_string_value(text), name) == 0 &&
		    strcmp(kind_of(data, i), kind) == 0)
			return true;
	}
	return false;
}

TEST(kinds)
{
	char path[] = "/tmp/stackmap-flamegraph-XXXXXX";
	json_t *data;

	close(mkstemp(path));
	write_recording(path);
	data = data_of(path);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!has_frame(data, expected[i].name, expected[i].kind))
			fail_msg("%s is not %s", expected[i].name, expected[i].kind);
	json_decref(data);
	unlink(path);
}
