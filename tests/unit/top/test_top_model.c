/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A live view of the small recording with known counts, and of a recording that is too large for
 * the view. */
#include "top/top_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "small_recording.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

#define CPU_CLOCK 0
#define SWITCH 1

static const struct event_filter all = {};
static char path[] = "/tmp/stackmap-top-XXXXXX";
static struct trace_reader *reader;
static struct top_model *model;
static struct top_lines lines;

static void add_window_split(struct trace_reader *window, u32 split)
{
	struct profile *profile;

	assert_int_equal(profile_create_split(window, &all, &(struct frame_naming){}, split, NULL,
					      &profile, NULL),
			 0);
	assert_int_equal(top_model_add(model, window, profile), 0);
	profile_free(&profile);
}

static void add_window(struct trace_reader *window)
{
	add_window_split(window, 0);
}

static const struct top_function *function_of(u32 kind, const char *name)
{
	for (u32 i = 0; i < model->functions.count; i++) {
		const struct top_function *function = model->functions.entries[i];

		if (function->kind == kind && !strcmp(function->label->name, name))
			return function;
	}
	fail_msg("%s is not there", name);
	return NULL;
}

static void check_function(u32 kind, const char *name, u64 self, u64 total)
{
	assert_int_equal(function_of(kind, name)->self, self);
	assert_int_equal(function_of(kind, name)->total, total);
}

/* The equation of top_model.h. */
static void check_sums(void)
{
	for (u32 kind = 0; kind < model->source_count; kind++) {
		u64 self = 0, weight = model->sources[kind].unlisted;

		for (u32 i = 0; i < model->functions.count; i++) {
			const struct top_function *function = model->functions.entries[i];

			self += function->kind == kind ? function->self : 0;
		}
		for (u32 i = 0; i < model->stack_count; i++)
			if (model->stacks[i]->kind == kind)
				weight += model->stacks[i]->weight;
		assert_int_equal(self, model->sources[kind].weight);
		assert_int_equal(weight, model->sources[kind].weight);
	}
}

static int create(void **state)
{
	(void)state;
	return top_model_create(&model);
}

static int end(void **state)
{
	(void)state;
	top_model_free(&model);
	top_lines_clear(&lines);
	return model != NULL;
}

TEST(self_and_total, create, end)
{
	add_window(reader);
	assert_int_equal(model->source_count, 2);
	assert_string_equal(model->sources[CPU_CLOCK].name, "cpu-clock");
	assert_int_equal(model->sources[CPU_CLOCK].weight, 5);
	check_function(CPU_CLOCK, "do_syscall_64", 3, 3);
	check_function(CPU_CLOCK, "entry_SYSCALL_64", 0, 3);
	check_function(CPU_CLOCK, "main", 0, 4);
	check_function(CPU_CLOCK, "vmlinux+0x500000", 1, 1);
	check_sums();
}

/* The function occurs twice in one of the stacks. */
TEST(recursion_counts_once, create, end)
{
	add_window(reader);
	check_function(CPU_CLOCK, "foo::bar(int)", 1, 4);
}

/* Two events have values, 1000 ns and 500 ns; the other events of the source have none. */
TEST(values_weigh_where_there_is_a_unit, create, end)
{
	add_window(reader);
	assert_string_equal(model->sources[SWITCH].unit, "ns");
	assert_int_equal(model->sources[SWITCH].weight, 1500);
	check_function(SWITCH, "schedule", 1500, 1500);
	check_sums();
}

TEST(windows_add_up, create, end)
{
	u32 functions, stacks;

	add_window(reader);
	functions = model->functions.count;
	stacks = model->stack_count;
	add_window(reader);
	assert_int_equal(model->functions.count, functions);
	assert_int_equal(model->stack_count, stacks);
	assert_int_equal(model->sources[CPU_CLOCK].weight, 10);
	check_function(CPU_CLOCK, "do_syscall_64", 6, 6);
	check_function(CPU_CLOCK, "foo::bar(int)", 2, 8);
	check_sums();
}

TEST(clear_keeps_nothing_but_keys, create, end)
{
	u64 key;

	add_window(reader);
	key = function_of(CPU_CLOCK, "main")->key;
	top_model_clear(model);
	assert_int_equal(model->functions.count, 0);
	assert_int_equal(model->stack_count, 0);
	assert_int_equal(model->sources[CPU_CLOCK].weight, 0);
	check_sums();
	add_window(reader);
	assert_int_equal(function_of(CPU_CLOCK, "main")->key, key);
	check_function(CPU_CLOCK, "do_syscall_64", 3, 3);
}

TEST(next_source_has_events, create, end)
{
	add_window(reader);
	assert_int_equal(top_model_next_source(model, CPU_CLOCK), SWITCH);
	assert_int_equal(top_model_next_source(model, SWITCH), CPU_CLOCK);
	top_model_clear(model);
	assert_int_equal(top_model_next_source(model, SWITCH), SWITCH);
}

static void check_line(u32 i, enum top_line_type type, double self, double total, const char *text)
{
	assert_true(i < lines.count);
	assert_int_equal(lines.lines[i].type, type);
	assert_float_equal(lines.lines[i].self, self, 0.01);
	assert_float_equal(lines.lines[i].total, total, 0.01);
	assert_string_equal(lines.lines[i].text, text);
}

TEST(functions_by_self_and_by_total, create, end)
{
	struct top_choice choice = {.kind = CPU_CLOCK};

	add_window(reader);
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.count, 5);
	check_line(0, TOP_LINE_FUNCTION, 60, 60, "do_syscall_64");
	check_line(1, TOP_LINE_FUNCTION, 20, 80, "foo::bar(int)");
	check_line(2, TOP_LINE_FUNCTION, 20, 20, "vmlinux+0x500000");
	check_line(3, TOP_LINE_FUNCTION, 0, 80, "main");
	choice.order = TOP_BY_TOTAL;
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	check_line(0, TOP_LINE_FUNCTION, 20, 80, "foo::bar(int)");
	check_line(1, TOP_LINE_FUNCTION, 0, 80, "main");
	check_line(2, TOP_LINE_FUNCTION, 60, 60, "do_syscall_64");
	check_line(4, TOP_LINE_FUNCTION, 20, 20, "vmlinux+0x500000");
}

/* The function's two stacks, the hotter one first, come between the function and the next one. */
TEST(function_unfolds, create, end)
{
	struct top_choice choice = {.kind = CPU_CLOCK};

	add_window(reader);
	choice.unfolded = function_of(CPU_CLOCK, "foo::bar(int)")->key;
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	check_line(1, TOP_LINE_FUNCTION, 20, 80, "foo::bar(int)");
	check_line(2, TOP_LINE_PART, 60, 0, "");
	assert_string_equal(lines.lines[2].comm, "dd");
	check_line(3, TOP_LINE_FRAME, 0, 0, "do_syscall_64");
	assert_true(lines.lines[3].in_kernel);
	check_line(4, TOP_LINE_FRAME, 0, 0, "entry_SYSCALL_64");
	check_line(5, TOP_LINE_FRAME, 0, 0, "foo::bar(int)");
	assert_false(lines.lines[5].in_kernel);
	check_line(6, TOP_LINE_FRAME, 0, 0, "main");
	check_line(7, TOP_LINE_PART, 20, 0, "");
	assert_string_equal(lines.lines[7].comm, "sh");
	check_line(8, TOP_LINE_FRAME, 0, 0, "foo::bar(int)");
	check_line(11, TOP_LINE_FUNCTION, 20, 20, "vmlinux+0x500000");
}

/* Kernel stack and user stack are missing: the leaf is shown, then the reasons. */
TEST(stack_unfolds_with_its_ends, create, end)
{
	struct top_choice choice = {.kind = CPU_CLOCK, .stacks = true};

	add_window(reader);
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.count, 3);
	check_line(0, TOP_LINE_STACK, 60, 0, "do_syscall_64");
	for (u32 i = 0; i < lines.count; i++)
		if (!strcmp(lines.lines[i].text, "vmlinux+0x500000"))
			choice.unfolded = lines.lines[i].key;
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.count, 6);
	for (u32 i = 0; i < lines.count; i++)
		if (lines.lines[i].key == choice.unfolded) {
			check_line(i + 1, TOP_LINE_FRAME, 0, 0, "vmlinux+0x500000");
			check_line(i + 2, TOP_LINE_END, 0, 0, "[no_room]");
			check_line(i + 3, TOP_LINE_END, 0, 0, "[unreadable]");
		}
}

/* The values of the events with the function innermost, then of those with it anywhere. */
TEST(values_of_functions, create, end)
{
	struct top_choice choice = {.kind = SWITCH, .histograms = true, .histograms_first = 1};
	u32 folded;

	add_window_split(reader, EVENTS_WITH_VALUES);
	add_window_split(reader, EVENTS_WITH_VALUES);
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	check_line(0, TOP_LINE_FUNCTION, 100, 100, "schedule");
	check_line(1, TOP_LINE_VALUES, 0, 0,
		   "12 events  sum 3.00 us  average 250 ns  min 0 ns  p50 0 ns  p90 1.00 us  "
		   "p99 1.00 us  p99.9 1.00 us  max 1.00 us");
	check_line(2, TOP_LINE_VALUES, 0, 0,
		   "             0 ns           8  ########################################");
	check_line(12, TOP_LINE_VALUES, 0, 0, "512 ns .. 1.02 us           2  ##########");
	assert_int_equal(lines.lines[13].type, TOP_LINE_FUNCTION);
	folded = lines.count;
	choice.unfolded = function_of(SWITCH, "schedule")->key;
	choice.histograms_first = 0;
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	check_line(1, TOP_LINE_VALUES, 0, 0,
		   "12 events  sum 3.00 us  average 250 ns  min 0 ns  p50 0 ns  p90 1.00 us  "
		   "p99 1.00 us  p99.9 1.00 us  max 1.00 us");
	assert_int_equal(lines.lines[13].type, TOP_LINE_PART);
	choice.histograms = false;
	choice.unfolded = 0;
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.count, folded - 12);
}

#define MANY_VALUES (TOP_VALUES_MAX + TOP_VALUES_MAX / 8)

/* A recording of one stack whose events all have different values. */
static struct trace_reader *many_values_recording(void)
{
	const struct trace_source source = {
		.name = "wait", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"};
	const struct trace_info about = {.hostname = "",
					 .kernel = "",
					 .machine = "",
					 .command = "",
					 .version = "",
					 .address_shown = 1};
	struct memory_recording recording;
	struct trace_reader *many;

	assert_int_equal(memory_recording_begin(&recording, "many", &about, NULL), 0);
	assert_int_equal(trace_writer_source(recording.writer, &source), 0);
	for (u32 i = 0; i < MANY_VALUES; i++) {
		const struct trace_event event = {.time = i + 1,
						  .value = i,
						  .kernel = TRACE_NO_STACK,
						  .user = TRACE_NO_STACK};

		assert_int_equal(trace_writer_event(recording.writer, &event), 0);
	}
	assert_int_equal(memory_recording_end(&recording, &many, NULL), 0);
	return many;
}

TEST(values_are_bounded, create, end)
{
	struct trace_reader *many = many_values_recording();
	const struct distribution *values;

	add_window_split(many, EVENTS_WITH_VALUES);
	values = &model->stacks[0]->values;
	assert_int_equal(values->count, MANY_VALUES);
	assert_int_equal(values->sum, model->sources[0].weight);
	assert_true(values->item_count < TOP_VALUES_MAX);
	assert_true(model->value_digits < DISTRIBUTION_DIGITS_EXACT);
	top_model_clear(model);
	assert_int_equal(model->value_digits, DISTRIBUTION_DIGITS_EXACT);
	trace_reader_close(&many);
}

#define TOO_MANY (TOP_LABELS_MAX + 100)

static const struct trace_info info = {.hostname = "",
				       .kernel = "",
				       .machine = "",
				       .command = "",
				       .version = "",
				       .address_shown = 1};

/* Maps numbers below 2^28 to different numbers below 2^28 without a pattern. */
static u32 scatter_number(u32 number)
{
	number = number * 0x9e3779b1U & 0xfffffff;
	return (number ^ number >> 14) * 0x85ebca6bU & 0xfffffff;
}

/* A recording whose events all have different addresses. The addresses are irregular, as regular
 * ones would be compressed too well to reach the size limit. */
static struct trace_reader *wild_recording(void)
{
	const struct trace_source source = {
		.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF, .value_unit = ""};
	struct memory_recording recording;
	struct trace_reader *wild;

	assert_int_equal(memory_recording_begin(&recording, "wild", &info, NULL), 0);
	assert_int_equal(trace_writer_source(recording.writer, &source), 0);
	for (u32 i = 0; i < TOO_MANY; i++) {
		const struct trace_event event = {
			.time = i + 1,
			.leaf = 0xffffffff80000000 + scatter_number(i),
			.kernel = TRACE_NO_STACK,
			.user = TRACE_NO_STACK,
		};

		assert_int_equal(trace_writer_event(recording.writer, &event), 0);
	}
	assert_int_equal(memory_recording_end(&recording, &wild, NULL), 0);
	return wild;
}

TEST(memory_is_bounded, create, end)
{
	struct trace_reader *wild = wild_recording();

	add_window(wild);
	assert_int_equal(model->sources[0].weight, TOO_MANY);
	assert_int_equal(model->stack_count, TOP_STACKS_MAX);
	assert_int_equal(model->sources[0].unlisted, TOO_MANY - TOP_STACKS_MAX);
	assert_int_equal(model->functions.count, TOP_LABELS_MAX + 1);
	check_function(0, "[other]", TOO_MANY - TOP_LABELS_MAX, TOO_MANY - TOP_LABELS_MAX);
	check_sums();
	trace_reader_close(&wild);
}

/* One event in each of two files, with a function of the same name in both. */
static struct trace_reader *namesakes_recording(void)
{
	const struct trace_source source = {
		.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF, .value_unit = ""};
	struct memory_recording recording;
	struct trace_reader *namesakes;

	assert_int_equal(memory_recording_begin(&recording, "namesakes", &info, NULL), 0);
	assert_int_equal(trace_writer_source(recording.writer, &source), 0);
	for (u32 i = 1; i <= 2; i++) {
		const struct trace_mapping mapping = {.number = i, .path = i == 1 ? "/a" : "/b"};
		const struct trace_symbol symbol = {
			.mapping = i, .start = 0x1000, .size = 16, .name = "main"};
		const struct trace_event event = {.time = i,
						  .leaf = FRAME_USER(i, 0x1000),
						  .kernel = TRACE_NO_STACK,
						  .user = TRACE_NO_STACK};

		assert_int_equal(trace_writer_mapping(recording.writer, &mapping), 0);
		assert_int_equal(trace_writer_symbol(recording.writer, &symbol), 0);
		assert_int_equal(trace_writer_event(recording.writer, &event), 0);
	}
	assert_int_equal(memory_recording_end(&recording, &namesakes, NULL), 0);
	return namesakes;
}

TEST(namesakes_of_two_files_are_two, create, end)
{
	struct trace_reader *namesakes = namesakes_recording();

	add_window(namesakes);
	assert_int_equal(model->functions.count, 2);
	for (u32 i = 0; i < 2; i++) {
		const struct top_function *function = model->functions.entries[i];

		assert_string_equal(function->label->name, "main");
		assert_string_equal(function->label->object, i ? "/b" : "/a");
	}
	check_sums();
	trace_reader_close(&namesakes);
}

/* The message of a process that publishes the list of its threads' keys: http.route. */
static const struct trace_process key_list = {
	.tgid = 7,
	.bytes = 51,
	.message = (const u8 *)"\x12\x31\x0a\x1d"
			       "threadlocal.attribute_key_map"
			       "\x12\x10\x2a\x0e\x0a\x0c\x0a\x0a"
			       "http.route",
};

/* Two stacks of trace 0x0a, one of which trace 0x0b has, too, and an event without a trace. The
 * events of trace 0x0a have the attribute http.route=/a, that of trace 0x0b /b. */
static struct trace_reader *traces_recording(void)
{
	const struct trace_source source = {
		.name = "wait", .extras = TRACE_EXTRA_LEAF | TRACE_EXTRA_VALUE, .value_unit = "ns"};
	struct trace_info about = info;
	struct memory_recording recording;
	struct trace_reader *traces;

	about.has_contexts = about.has_attributes = 1;
	assert_int_equal(memory_recording_begin(&recording, "traces", &about, NULL), 0);
	assert_int_equal(trace_writer_source(recording.writer, &source), 0);
	assert_int_equal(
		trace_writer_task(recording.writer, &(struct trace_task){.tid = 7, .tgid = 7}), 0);
	assert_int_equal(trace_writer_process(recording.writer, &key_list), 0);
	for (u32 i = 0, number; i < 2; i++)
		assert_int_equal(
			trace_writer_attributes(
				recording.writer,
				&(struct trace_attributes){
					.bytes = 4, .data = (const u8 *)(i ? "\0\2/b" : "\0\2/a")},
				&number),
			0);
	for (u32 i = 0; i < 4; i++) {
		const struct trace_context context = {.trace[15] = i == 2 ? 0x0b : 0x0a,
						      .span[7] = i + 1,
						      .attributes = i == 2 ? 2 : 1};
		struct trace_event event = {.time = i + 1,
					    .tid = 7,
					    .leaf = 0xffffffff80000000 + (i == 1 ? 16 : 0),
					    .value = 10 << i,
					    .has_context = i < 3,
					    .kernel = TRACE_NO_STACK,
					    .user = TRACE_NO_STACK};

		if (i < 3)
			assert_int_equal(
				trace_writer_context(recording.writer, &context, &event.context),
				0);
		assert_int_equal(trace_writer_event(recording.writer, &event), 0);
	}
	assert_int_equal(memory_recording_end(&recording, &traces, NULL), 0);
	return traces;
}

#define TRACE_A "0000000000000000000000000000000a"
#define TRACE_B "0000000000000000000000000000000b"

/* Values: 10 and 20 of the first trace, 40 of the second, 80 of none. */
TEST(traces_have_their_events, create, end)
{
	struct top_choice choice = {.order = TOP_BY_TRACE};
	struct trace_reader *traces = traces_recording();

	for (u32 window = 0; window < 2; window++)
		add_window_split(traces, EVENTS_BY_TRACE | EVENTS_WITH_VALUES);
	check_sums();
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.count, 3);
	check_line(0, TOP_LINE_TRACE, 53.33, 53.33, TOP_NO_TRACE);
	check_line(1, TOP_LINE_TRACE, 26.67, 26.67, TRACE_B);
	check_line(2, TOP_LINE_TRACE, 20, 20, TRACE_A);
	choice.unfolded = lines.lines[2].key;
	choice.histograms = true;
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.lines[3].type, TOP_LINE_VALUES);
	assert_int_equal(strncmp(lines.lines[3].text, "4 events  sum 60 ns", 19), 0);
	choice.histograms = false;
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	check_line(3, TOP_LINE_PART, 13.33, 0, "");
	check_line(5, TOP_LINE_PART, 6.67, 0, "");
	assert_int_equal(lines.count, 7);
	trace_reader_close(&traces);
}

TEST(values_of_an_attribute_have_their_events, create, end)
{
	struct top_choice choice = {.order = TOP_BY_TRACE};
	struct trace_reader *traces = traces_recording();

	model->attribute = "http.route";
	for (u32 window = 0; window < 2; window++)
		add_window_split(traces, EVENTS_BY_ATTRIBUTES);
	check_sums();
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.count, 3);
	check_line(0, TOP_LINE_TRACE, 53.33, 53.33, TOP_NO_TRACE);
	check_line(1, TOP_LINE_TRACE, 26.67, 26.67, "/b");
	check_line(2, TOP_LINE_TRACE, 20, 20, "/a");
	trace_reader_close(&traces);
}

TEST(stacks_of_two_traces_are_two, create, end)
{
	struct top_choice choice = {.stacks = true};
	struct trace_reader *traces = traces_recording();
	u64 key;

	add_window_split(traces, EVENTS_BY_TRACE);
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	assert_int_equal(lines.count, 4);
	check_line(1, TOP_LINE_STACK, 26.67, 0, "0xffffffff80000000");
	assert_string_equal(lines.lines[1].trace, TRACE_B);
	assert_string_equal(lines.lines[3].trace, TRACE_A);
	assert_string_equal(lines.lines[1].text, lines.lines[3].text);
	key = lines.lines[1].key;
	assert_true(key != lines.lines[3].key);
	choice = (struct top_choice){0};
	assert_int_equal(top_lines_make(&lines, model, &choice), 0);
	check_line(0, TOP_LINE_FUNCTION, 86.67, 86.67, "0xffffffff80000000");
	check_line(1, TOP_LINE_FUNCTION, 13.33, 13.33, "0xffffffff80000010");
	trace_reader_close(&traces);
}

static int open_recording(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return fd < 0 || small_recording_write(path) || trace_reader_open(path, &reader, NULL);
}

static int close_recording(void **state)
{
	(void)state;
	trace_reader_close(&reader);
	return unlink(path);
}

TEST_GROUP(open_recording, close_recording)
