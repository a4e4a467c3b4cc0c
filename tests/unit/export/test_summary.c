/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A summary is shown like the recording that it sums up. Twins of the small recording, one with
 * each event several times and one with the same number of repeats, give the same bytes in all
 * formats that count events. Formats that show every event show its repeats.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../report/small_recording.h"
#include "export/export_format.h"
#include "flamegraph/flamegraph.h"
#include "report/profile/profile.h"
#include "unit_test.h"

#define TIMES 7

enum { ONE_BY_ONE, SUMMARY, TWINS };

static char path[TWINS][64];
static struct trace_reader *reader[TWINS];

struct text {
	char *bytes;
	size_t length;
};

static int open_twins(void **state)
{
	(void)state;
	for (int i = 0; i < TWINS; i++) {
		snprintf(path[i], sizeof(path[i]), "/tmp/stackmap-twin-XXXXXX");
		close(mkstemp(path[i]));
		if (small_recording_write_often(path[i], TIMES, i == SUMMARY) ||
		    trace_reader_open(path[i], &reader[i], NULL))
			return -1;
	}
	return 0;
}

static int close_twins(void **state)
{
	(void)state;
	for (int i = 0; i < TWINS; i++) {
		trace_reader_close(&reader[i]);
		unlink(path[i]);
	}
	return 0;
}

static struct text export_of(int twin, const char *name, const char *by)
{
	const struct export_options options = {.by = by};
	struct text text = {};
	FILE *to = open_memstream(&text.bytes, &text.length);

	assert_non_null(to);
	assert_int_equal(export_format_find(name)->write(reader[twin], &options, to, NULL), 0);
	assert_int_equal(fclose(to), 0);
	return text;
}

/* The page up to the single values, which a summary lacks. */
static struct text page_of(int twin)
{
	char *values;

	static const struct frame_naming naming = {};
	static const struct event_filter all = {};
	struct flamegraph *graph;
	struct text text = {};
	FILE *to = open_memstream(&text.bytes, &text.length);

	assert_non_null(to);
	assert_int_equal(flamegraph_create(&naming, 1, &graph), 0);
	assert_int_equal(flamegraph_add(graph, reader[twin], "twin", &all, NULL), 0);
	assert_int_equal(flamegraph_events(graph), SMALL_EVENTS * TIMES);
	assert_int_equal(flamegraph_write(graph, to, NULL), 0);
	assert_int_equal(fclose(to), 0);
	flamegraph_free(&graph);
	values = memmem(text.bytes, text.length, ",\"values\":{", strlen(",\"values\":{"));
	assert_non_null(values);
	text.length = (size_t)(values - text.bytes);
	return text;
}

static void check_same(struct text texts[TWINS])
{
	assert_true(texts[SUMMARY].length > 0);
	assert_int_equal(texts[SUMMARY].length, texts[ONE_BY_ONE].length);
	assert_memory_equal(texts[SUMMARY].bytes, texts[ONE_BY_ONE].bytes, texts[SUMMARY].length);
	free(texts[SUMMARY].bytes);
	free(texts[ONE_BY_ONE].bytes);
}

TEST(formats_that_count_are_the_same)
{
	static const struct {
		const char *name, *by;
	} formats[] = {
		{"folded", "count"}, {"folded", "value"},  {"json", NULL},	    {"pprof", NULL},
		{"otlp", NULL},	     {"speedscope", NULL}, {"stack_map_bin", NULL},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct text texts[TWINS];

		for (int twin = 0; twin < TWINS; twin++)
			texts[twin] = export_of(twin, formats[i].name, formats[i].by);
		check_same(texts);
	}
}

TEST(flame_graphs_are_the_same)
{
	struct text texts[TWINS] = {page_of(ONE_BY_ONE), page_of(SUMMARY)};

	check_same(texts);
}

static u64 sum_of_periods(int twin, u32 *events)
{
	struct text text = export_of(twin, "perf-script", NULL);
	unsigned long long period;
	u64 sum = 0;

	*events = 0;
	for (char *at = text.bytes; (at = strstr(at, "] ")); at++) {
		if (sscanf(at, "] %*d.%*d: %llu ", &period) != 1)
			continue;
		sum += period;
		++*events;
	}
	free(text.bytes);
	return sum;
}

TEST(periods_of_perf_script_add_up)
{
	u32 events, all;

	assert_int_equal(sum_of_periods(SUMMARY, &events), sum_of_periods(ONE_BY_ONE, &all));
	assert_int_equal(events, SMALL_EVENTS);
	assert_int_equal(all, SMALL_EVENTS * TIMES);
}

TEST(chrome_shows_the_repeats)
{
	struct text text = export_of(SUMMARY, "chrome", NULL);
	json_t *whole = json_loadb(text.bytes, text.length, JSON_REJECT_DUPLICATES, NULL);
	json_t *event;
	u32 events = 0;
	size_t i;

	json_array_foreach(json_object_get(whole, "traceEvents"), i, event)
	{
		const char *form = json_string_value(json_object_get(event, "ph"));
		json_t *count = json_object_get(json_object_get(event, "args"), "count");

		if (strcmp(form, "M") == 0)
			continue;
		assert_string_equal(form, "i");
		assert_int_equal(json_integer_value(count), TIMES);
		events++;
	}
	assert_int_equal(events, SMALL_EVENTS);
	json_decref(whole);
	free(text.bytes);
}

TEST_GROUP(open_twins, close_twins)
