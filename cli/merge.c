/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap merge`: many recordings into one. Of a damaged one, what is whole goes in; the command
 * says so and fails, as all that read recordings do. */
#include "merge/recording_merge.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "command_line.h"
#include "process/file_limit.h"
#include "process/privilege.h"
#include "product_version.h"
#include "terminal/message.h"
#include "terminal/output_file.h"
#include "view/recording.h"

#define RECORDINGS_MAX 4096

struct merge_values {
	const char *output;
};

static void close_all(struct trace_reader **readers, u32 count)
{
	for (u32 i = 0; i < count; i++)
		trace_reader_close(&readers[i]);
}

static int open_all(char **paths, u32 count, struct trace_reader **readers)
{
	struct stackmap_error error;

	for (u32 i = 0; i < count; i++) {
		if (!trace_reader_open(paths[i], &readers[i], &error))
			continue;
		message_error(&error);
		close_all(readers, i);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* What is missing in the result. */
static int tell_damage(char **paths, struct trace_reader *const *readers, u32 count)
{
	int status = EXIT_DONE;

	for (u32 i = 0; i < count; i++) {
		const struct stackmap_error *damage = trace_reader_damage(readers[i]);

		if (!trace_reader_ledger(readers[i]))
			message("%s: has no ledger, so the result has none", paths[i]);
		if (!damage)
			continue;
		message_error(damage);
		status = EXIT_FAILED;
	}
	return status;
}

static int write_output(const char *output, struct trace_reader *const *readers, u32 count)
{
	char *command = command_line_read();
	struct recording_merge_info info = {.command = command ?: "stackmap merge",
					    .version = STACKMAP_VERSION};
	struct stackmap_error error;
	int err = recording_merge(readers, count, output, &info, &error);

	if (err)
		message_error(&error);
	free(command);
	return err ? EXIT_FAILED : EXIT_DONE;
}

static int merge_all(const char *output, char **paths, u32 count, struct trace_reader **readers)
{
	int status = open_all(paths, count, readers);

	if (status)
		return status;
	status = tell_damage(paths, readers, count);
	if (write_output(output, readers, count))
		status = EXIT_FAILED;
	close_all(readers, count);
	return status;
}

static int merge_run(const void *arg, int count, char **operands)
{
	const struct merge_values *values = arg;
	struct trace_reader **readers;
	int status;

	if (!values->output) {
		message("merge: no --output FILE given, see 'stackmap help merge'");
		return EXIT_USAGE;
	}
	privilege_keep_files();
	output_file_guard();
	file_limit_raise();
	readers = calloc((size_t)count, sizeof(struct trace_reader *));
	if (!readers) {
		message("merge: %s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	status = merge_all(values->output, operands, (u32)count, readers);
	free(readers);
	return status;
}

static const struct option_row rows[] = {
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct merge_values, output),
	 .group = "Output",
	 .help = "the recording to write; an existing one becomes FILE.old"},
	{0},
};

const struct command merge_command = {
	.name = "merge",
	.operands = "FILE...",
	.operands_max = RECORDINGS_MAX,
	.operands_missing = "no recordings given, see 'stackmap help merge'",
	.summary = "make one recording of many",
	.rows = rows,
	.values_bytes = sizeof(struct merge_values),
	.run = merge_run,
};
