/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap import`: writes the trace of another tracer as a recording. */
#include "ftrace/import.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "command_line.h"
#include "process/privilege.h"
#include "product_version.h"
#include "terminal/message.h"
#include "terminal/output_file.h"
#include "view/recording.h"

struct import_values {
	const char *ftrace, *stacks, *buffer, *output;
};

static void report_import_notes(const char *from, const struct ftrace_import_notes *notes)
{
	if (notes->unresolved)
		message("%s: %" PRIu64 " stacks are known by ids that stack_map_bin does not have: "
			"it is of another reset of the map, or missing",
			from, notes->unresolved);
	if (notes->unknown_gaps)
		message("%s: at %" PRIu64 " places the ring has lost it is not known how much; the "
			"ledger counts 1 for each",
			from, notes->unknown_gaps);
	if (notes->hides_kernel)
		message("%s: kernel addresses were hidden from who read stack_map_bin "
			"(kptr_restrict), so kernel functions have no names",
			from);
}

static int import_run(const void *arg, int count, char **operands)
{
	const struct import_values *values = arg;
	struct ftrace_import_notes notes = {};
	char *command = command_line_read();
	const struct ftrace_import import = {
		.from = values->ftrace,
		.stacks = values->stacks,
		.buffer = values->buffer,
		.command = command ?: "stackmap import",
		.version = STACKMAP_VERSION,
	};
	struct stackmap_error error;
	int err;

	(void)count;
	(void)operands;
	if (!values->ftrace) {
		free(command);
		message("import: no --ftrace DIR or trace.dat given, see 'stackmap help import'");
		return EXIT_USAGE;
	}
	privilege_keep_reading_of_kernel_files();
	remove_output_file_on_signals();
	err = ftrace_import(&import, values->output ?: RECORDING_DEFAULT, &notes, &error);
	free(command);
	if (err)
		print_error_message(&error);
	else
		report_import_notes(values->ftrace, &notes);
	return err ? EXIT_FAILED : EXIT_DONE;
}

static const struct option_row rows[] = {
	{.name = "ftrace",
	 .type = OPTION_STRING,
	 .argument = "PATH",
	 .target = offsetof(struct import_values, ftrace),
	 .group = "Input",
	 .help = "an instance in tracefs, a trace.dat, or a folder with one"},
	{.name = "stack-map",
	 .type = OPTION_STRING,
	 .argument = "DIR",
	 .target = offsetof(struct import_values, stacks),
	 .group = "Input",
	 .help = "where stack_map_bin and mappings are, if not beside it"},
	{.name = "buffer",
	 .type = OPTION_STRING,
	 .argument = "NAME",
	 .target = offsetof(struct import_values, buffer),
	 .group = "Input",
	 .help = "this instance of a trace.dat"},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct import_values, output),
	 .group = "Output",
	 .help = "the recording to write, default stackmap.data; an existing one becomes FILE.old"},
	{0},
};

const struct command import_command = {
	.name = "import",
	.operands = "",
	.summary = "make a recording of what ftrace has recorded",
	.rows = rows,
	.values_bytes = sizeof(struct import_values),
	.run = import_run,
};
