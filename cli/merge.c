/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap merge`: merges many recordings into one. If a recording is damaged, its undamaged
 * blocks are merged; the command reports the damage and fails, like all commands that read
 * recordings.
 */
#include "view/recording.h"

#include <stddef.h>
#include <stdlib.h>

#include "command.h"
#include "command_line.h"
#include "process/privilege.h"
#include "product_version.h"
#include "terminal/message.h"
#include "terminal/output_file.h"

struct merge_values {
	const char *output;
};

static int merge_recordings(const char *output, char **paths, u32 count,
			    struct recording_list *list)
{
	int err;
	char *command;
	struct recording_merge_info info;
	struct stackmap_error error;

	for (u32 i = 0; i < count; i++) {
		err = recording_list_is_folder(paths[i])
			      ? recording_list_add_folder(list, paths[i], &error)
			      : recording_list_add_file(list, paths[i], &error);
		if (err) {
			print_error_message(&error);
			return EXIT_FAILED;
		}
	}
	command = command_line_read();
	info = (struct recording_merge_info){.command = command ?: "stackmap merge",
					     .version = STACKMAP_VERSION};
	err = recording_merge(list->readers, list->count, output, &info, &error);
	if (err)
		print_error_message(&error);
	free(command);
	return report_damaged_recordings(list) || list->missing || err ? EXIT_FAILED : EXIT_DONE;
}

static int merge_run(const void *arg, int count, char **operands)
{
	const struct merge_values *values = arg;
	struct recording_list list;
	int status;

	if (!values->output) {
		message("merge: no --output FILE given, see 'stackmap help merge'");
		return EXIT_USAGE;
	}
	privilege_keep_reading_of_files();
	remove_output_file_on_signals();
	raise_open_file_limit();
	recordings_init(&list);
	status = merge_recordings(values->output, operands, (u32)count, &list);
	recording_list_clear(&list);
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
	.operands_max = RECORDING_LIST_MAX,
	.operands_missing = "no recordings given, see 'stackmap help merge'",
	.summary = "make one recording of many",
	.rows = rows,
	.values_bytes = sizeof(struct merge_values),
	.run = merge_run,
};
