/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of the small recording: its data is JSON with the content of the recording, and no name
 * can end the HTML element that contains it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../report/small_recording.h"
#include "flamegraph/flamegraph.h"
#include "unit_test.h"

#define DATA "<script type=\"application/json\" id=\"data\">"
#define HOSTILE "</script><!--<script>&.data"

static char path[] = "/tmp/stackmap-flamegraph-XXXXXX";
static struct trace_reader *reader;
static const struct frame_naming naming;

static int open_recording(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return small_recording_write(path) ?: trace_reader_open(path, &reader, NULL);
}

static int close_recording(void **state)
{
	(void)state;
	trace_reader_close(&reader);
	return unlink(path);
}

static char *page_of(const struct event_filter *filter, u32 recordings)
{
	struct flamegraph *graph;
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	assert_int_equal(flamegraph_create(&naming, recordings, &graph), 0);
	for (u32 i = 0; i < recordings; i++)
		assert_int_equal(flamegraph_add(graph, reader, HOSTILE, filter, NULL), 0);
	assert_int_equal(flamegraph_write(graph, to, NULL), 0);
	flamegraph_free(&graph);
	assert_null(graph);
	fclose(to);
	return text;
}

static json_t *data_of(const char *page)
{
	const char *begin = strstr(page, DATA) + strlen(DATA);
	const char *end = strstr(begin, "</script");
	json_t *data = json_loadb(begin, (size_t)(end - begin), 0, NULL);

	assert_null(memchr(begin, '<', (size_t)(end - begin)));
	assert_null(memchr(begin, '&', (size_t)(end - begin)));
	assert_non_null(data);
	return data;
}

static json_int_t sum(const json_t *cells, const char *column)
{
	json_int_t total = 0;
	json_t *number;
	size_t i;

	json_array_foreach(json_object_get(cells, column), i, number) total +=
		json_integer_value(number);
	return total;
}

TEST(every_event_is_in_a_cell)
{
	const struct event_filter all = {};
	char *page = page_of(&all, 1);
	json_t *data = data_of(page);
	const json_t *cells = json_array_get(json_object_get(data, "cells"), 0);
	const json_t *recording = json_array_get(json_object_get(data, "recordings"), 0);

	assert_int_equal(sum(cells, "count"), SMALL_EVENTS);
	assert_int_equal(sum(cells, "value"), 1500);
	assert_int_equal(json_array_size(json_object_get(data, "sources")), 2);
	assert_int_equal(json_array_size(json_object_get(data, "threads")), 4);
	assert_string_equal(json_string_value(json_object_get(recording, "name")), HOSTILE);
	assert_int_equal(json_integer_value(json_object_get(recording, "produced")),
			 SMALL_EVENTS + 3);
	for (size_t source = 0; source < 2; source++)
		assert_true(json_real_value(json_array_get(json_object_get(recording, "scales"),
							   source)) == 1 + 3.0 / SMALL_EVENTS);
	json_decref(data);
	free(page);
}

/* The values of single events: 1000, 500, and otherwise 0. */
TEST(values_by_stack)
{
	const struct event_filter all = {};
	char *page = page_of(&all, 1);
	json_t *data = data_of(page);
	const json_t *values = json_object_get(data, "values");

	assert_int_equal(json_integer_value(json_object_get(values, "digits")), 64);
	assert_int_equal(sum(values, "sum"), 1500);
	assert_int_equal(sum(values, "count"), 8);
	assert_int_equal(sum(values, "length"), json_array_size(json_object_get(values, "value")));
	json_decref(data);
	free(page);
}

TEST(user_stacks_are_told_by_their_quality)
{
	const struct event_filter all = {};
	char *page = page_of(&all, 1);
	json_t *data = data_of(page);
	const json_t *stacks = json_object_get(
		json_array_get(json_object_get(data, "recordings"), 0), "userStacks");

	assert_int_equal(json_integer_value(json_object_get(stacks, "whole")), 8);
	assert_int_equal(json_integer_value(json_object_get(stacks, "cut")), 4);
	assert_int_equal(json_integer_value(json_object_get(stacks, "guessed")), 0);
	assert_int_equal(json_integer_value(json_object_get(stacks, "unknown")), 0);
	json_decref(data);
	free(page);
}

TEST(two_recordings_share_the_tree)
{
	struct number_range thread = {201, 201};
	const struct event_filter one = {.tids = {&thread, 1}};
	char *page = page_of(&one, 2);
	json_t *data = data_of(page);
	const json_t *cells = json_object_get(data, "cells");

	assert_int_equal(json_array_size(cells), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(sum(json_array_get(cells, i), "count"), 1);
	assert_int_equal(sum(json_array_get(cells, 0), "stack"),
			 sum(json_array_get(cells, 1), "stack"));
	assert_int_equal(json_array_size(json_object_get(json_object_get(data, "nodes"), "frame")),
			 4);
	json_decref(data);
	free(page);
}

TEST(no_events_are_a_page_too)
{
	struct number_range process = {1, 1};
	const struct event_filter none = {.pids = {&process, 1}};
	char *page = page_of(&none, 1);
	json_t *data = data_of(page);

	assert_int_equal(json_array_size(json_object_get(data, "sources")), 0);
	json_decref(data);
	free(page);
}

TEST_GROUP(open_recording, close_recording)
