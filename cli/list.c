/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap list`: prints the words that -e accepts on this machine, one a line with its group, so
 * that the list can be searched. There are too many functions, so functions are listed only for a
 * pattern.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/source/source.h"
#include "command.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "terminal/message.h"

#define NAME_COLUMNS 50

static int print_source(void *arg, const char *group, const char *name)
{
	int padding = NAME_COLUMNS - (int)strlen(name);

	(void)arg;
	printable_put(name, stdout);
	printf("%*s [%s]\n", padding > 0 ? padding : 0, "", group);
	return 0;
}

static int append_source(void *arg, const char *group, const char *name)
{
	json_t *sources = arg;
	json_t *source = json_pack("{s:o, s:s}", "name", json_text(name), "group", group);

	return json_array_append_new(sources, source) ? -ENOMEM : 0;
}

static int list_run(const void *values, int count, char **operands)
{
	const bool *json = values;
	const char *pattern = count ? operands[0] : NULL;
	struct stackmap_error error = {.offset = STACKMAP_NO_OFFSET};
	json_t *sources;
	int err;

	if (*json) {
		sources = json_array();
		err = sources ? source_catalogue(pattern, append_source, sources, &error) : -ENOMEM;
		if (!err)
			return json_put(sources, stdout) ? EXIT_FAILED : EXIT_DONE;
		json_decref(sources);
	} else {
		err = source_catalogue(pattern, print_source, NULL, &error);
		if (!err)
			return EXIT_DONE;
	}
	if (error.message[0])
		message_error(&error);
	else
		message("list: %s", strerror(-err));
	return err == -EINVAL || err == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
}

static const struct option_row rows[] = {
	{.name = "json",
	 .type = OPTION_FLAG,
	 .group = "Output",
	 .help = "print a JSON list of {name, group}"},
	{.name = NULL},
};

const struct command list_command = {
	.name = "list",
	.operands = "[PATTERN]",
	.operands_max = 1,
	.summary = "show what can be recorded on this machine",
	.rows = rows,
	.values_bytes = sizeof(bool) /* --json */,
	.run = list_run,
};
