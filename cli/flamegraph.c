/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap flamegraph`: writes a recording, or the difference of two, as an HTML page. */
#include <stddef.h>
#include <string.h>

#include "command.h"
#include "error.h"
#include "flamegraph/flamegraph.h"
#include "terminal/message.h"
#include "terminal/output_file.h"
#include "view/names.h"
#include "view/recording.h"

#define OUTPUT_DEFAULT "flamegraph.html"

struct flamegraph_values {
	struct recording_values recording;
	const char *output;
	struct names_values names;
	struct string_list idle;
};

struct inputs {
	struct recording_choice choice[FLAMEGRAPH_RECORDINGS_MAX];
	struct trace_reader *reader[FLAMEGRAPH_RECORDINGS_MAX];
	u32 count;
};

static int write_page_file(struct flamegraph *graph, const char *path, struct stackmap_error *error)
{
	FILE *stream;
	int err = output_file_open(path, &stream, error), write_err;

	if (err)
		return err;
	write_err = flamegraph_write(graph, stream, error);
	err = output_file_close(&stream, !write_err, error);
	return err ?: write_err;
}

static int draw_page(const struct flamegraph_values *values, const struct inputs *inputs,
		     const struct frame_naming *naming, struct stackmap_error *error)
{
	const char *output = values->output;
	struct flamegraph *graph;
	int err = flamegraph_create(naming, inputs->count, &graph);

	if (err)
		return error_set(error, -err, "flame graph: %s", strerror(-err));
	flamegraph_set_idle(graph, &values->idle);
	for (u32 i = 0; i < inputs->count && !err; i++)
		err = flamegraph_add(graph, inputs->reader[i], inputs->choice[i].name,
				     &inputs->choice[i].filter, error);
	err = err ?: write_page_file(graph, output, error);
	if (!err && !output_file_is_standard(output))
		message("%llu events in %s, to be opened in a browser",
			(unsigned long long)flamegraph_events(graph), output);
	flamegraph_free(&graph);
	return err;
}

static int draw_page_of_recordings(const struct flamegraph_values *values, struct inputs *inputs,
				   struct frame_naming *naming)
{
	struct stackmap_error error;
	int status = EXIT_DONE;

	for (u32 i = 0; i < inputs->count && status == EXIT_DONE; i++) {
		inputs->reader[i] = recording_open(&inputs->choice[i]);
		if (!inputs->reader[i])
			status = EXIT_FAILED;
	}
	if (status == EXIT_DONE) {
		names_check_boots(naming, inputs->reader, inputs->count);
		if (draw_page(values, inputs, naming, &error)) {
			print_error_message(&error);
			status = EXIT_FAILED;
		}
	}
	/* recording_close() reports the damage of each recording. */
	for (u32 i = 0; i < inputs->count; i++)
		if (inputs->reader[i] &&
		    recording_close(&inputs->reader[i], &inputs->choice[i], 0, NULL) != EXIT_DONE)
			status = EXIT_FAILED;
	return status;
}

static int flamegraph_run(const void *arg, int count, char **operands)
{
	const struct flamegraph_values *values = arg;
	const char *file = output_file_is_standard(values->output) ? NULL : values->output;
	bool is_store = values->recording.from.url;
	struct inputs inputs = {.count = is_store ? 1 + (u32)count : count > 1 ? (u32)count : 1};
	struct frame_naming naming;
	int status;

	if (inputs.count > FLAMEGRAPH_RECORDINGS_MAX) {
		message("--from: one operand at most, the second value of an option");
		return EXIT_USAGE;
	}
	for (u32 i = 0; i < inputs.count; i++) {
		struct recording_choice *choice = &inputs.choice[i];

		/* With a store, the operand is the second value of an option. */
		if (i && is_store ? recording_choose_second(&values->recording, operands, choice)
				  : choose_recording_by_options(
					    &values->recording,
					    operands + (is_store ? (u32)count : i), choice))
			return EXIT_USAGE;
		choice->store.question.no_inlined = values->names.no_inline;
		set_time_step_of_query(&choice->store);
		choice->output = file;
	}
	status = recording_names_open(&values->names, &inputs.choice[0], &naming);
	if (status != EXIT_DONE)
		return status;
	status = draw_page_of_recordings(values, &inputs, &naming);
	names_close(&naming);
	return status;
}

static const struct option_row rows[] = {
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct flamegraph_values, output),
	 .group = "Output",
	 .help = "the page (default " OUTPUT_DEFAULT "; - is standard output)"},
	{.name = "idle",
	 .type = OPTION_STRINGS,
	 .argument = "FUNCTION",
	 .target = offsetof(struct flamegraph_values, idle),
	 .group = "Output",
	 .help = "a thread that waits in this function (a glob) is idle; may be repeated"},
	NAMES_ROWS(struct flamegraph_values, names),
	FOLD_ROW(struct flamegraph_values, names),
	VALUE_ROW(struct flamegraph_values, recording.value),
	RECORDING_ROWS(struct flamegraph_values, recording),
	{0},
};

const struct command flamegraph_command = {
	.name = "flamegraph",
	.operands = "[FILE [LATER_FILE]]",
	.operands_max = FLAMEGRAPH_RECORDINGS_MAX,
	.summary = "draw a recording as a page for the browser",
	.rows = rows,
	.values_bytes = sizeof(struct flamegraph_values),
	.defaults = &(const struct flamegraph_values){.output = OUTPUT_DEFAULT},
	.run = flamegraph_run,
};
