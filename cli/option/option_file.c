/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line becomes an argument, "--frequency=19", and is parsed by itself, so a message can have the
 * line's number. */
#include "option/option_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "terminal/message.h"

struct option_file {
	const struct command *command;
	char **arguments; /* values point into them */
	u32 count, room;
	void *values; /* values of the file, by the command's table */
};

void option_file_close(struct option_file **file)
{
	struct option_file *old = *file;

	*file = NULL;
	if (!old)
		return;
	if (old->values)
		option_clear(old->command, old->values);
	free(old->values);
	for (u32 i = 0; i < old->count; i++)
		free(old->arguments[i]);
	free(old->arguments);
	free(old);
}

static struct option_file *make(const struct command *command)
{
	struct option_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->command = command;
	file->values = calloc(1, command->values_bytes + 1);
	if (!file->values)
		option_file_close(&file);
	else if (command->defaults)
		memcpy(file->values, command->defaults, command->values_bytes);
	return file;
}

/* --- lines --- */

static char *trimmed(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

/* "name = value" as "--name=value". NULL: no memory. */
static char *argument_of(char *line)
{
	char *value = strchr(line, '='), *argument;
	int bytes;

	if (value)
		*value++ = 0;
	line = trimmed(line);
	bytes = value ? asprintf(&argument, "--%s=%s", line, trimmed(value))
		      : asprintf(&argument, "--%s", line);
	return bytes < 0 ? NULL : argument;
}

/* Abbreviated names are refused, because an abbreviation may become ambiguous in later versions. */
static bool is_option(const struct command *command, const char *argument)
{
	size_t length = strcspn(argument + 2, "=");

	for (const struct option_row *row = command->rows; row->name; row++)
		if (strlen(row->name) == length && !memcmp(row->name, argument + 2, length))
			return true;
	return false;
}

static bool parse(struct option_file *file, char *argument)
{
	char *argv[] = {(char *)file->command->name, argument, NULL};
	int first;

	if (!is_option(file->command, argument)) {
		message("%s: no option of '%s', see 'stackmap help %s'", argument + 2,
			file->command->name, file->command->name);
		return false;
	}
	return option_parse(file->command, 2, argv, file->values, &first) == OPTION_PARSED;
}

static int take_line(struct option_file *file, char *line, const char *path, u32 number)
{
	char *argument;

	line = trimmed(line);
	if (!*line || *line == '#')
		return EXIT_DONE;
	argument = argument_of(line);
	if (!argument || array_make_room(file->arguments, file->count, file->room)) {
		free(argument);
		message("%s: %s", path, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	file->arguments[file->count++] = argument;
	if (parse(file, argument))
		return EXIT_DONE;
	message("%s:%u: this line cannot be used", path, number);
	return EXIT_USAGE;
}

static int take_lines(struct option_file *file, FILE *stream, const char *path)
{
	int status = EXIT_DONE;
	char *line = NULL;
	size_t room = 0;

	for (u32 number = 1; !status && getline(&line, &room, stream) >= 0; number++)
		status = take_line(file, line, path, number);
	free(line);
	if (status || !ferror(stream))
		return status;
	message("%s: %s", path, strerror(errno));
	return EXIT_FAILED;
}

/* --- values --- */

static size_t bytes_of(const struct option_row *row)
{
	switch (row->type) {
	case OPTION_FLAG:
		return sizeof(bool);
	case OPTION_STRING:
	case OPTION_WORD:
		return sizeof(const char *);
	case OPTION_U64:
	case OPTION_SIZE:
		return sizeof(u64);
	case OPTION_STRINGS:
		return sizeof(struct string_list);
	case OPTION_NUMBERS:
		return sizeof(struct number_list);
	case OPTION_SAME:
	case OPTION_OPERAND:
	case OPTION_USUAL:
		break;
	}
	return 0;
}

/* Copies the values that the command line has not set. */
static void merge(const struct option_file *file, void *values)
{
	const struct command *command = file->command;

	for (const struct option_row *row = command->rows; row->name; row++) {
		static const char zeros[sizeof(struct number_list)];
		const void *before =
			command->defaults ? (const char *)command->defaults + row->target : zeros;
		char *target = (char *)values + row->target;

		if (!memcmp(target, before, bytes_of(row)))
			memcpy(target, (char *)file->values + row->target, bytes_of(row));
	}
}

int option_file_read(const struct command *command, const char *path, bool may_lack, void *values,
		     struct option_file **out)
{
	FILE *stream = fopen(path, "re");
	struct option_file *file;
	int status;

	*out = NULL;
	if (!stream && errno == ENOENT && may_lack)
		return EXIT_DONE;
	file = stream ? make(command) : NULL;
	if (!file) {
		message("%s: %s", path, strerror(errno));
		if (stream)
			fclose(stream);
		return EXIT_FAILED;
	}
	status = take_lines(file, stream, path);
	fclose(stream);
	if (status) {
		option_file_close(&file);
		return status;
	}
	merge(file, values);
	*out = file;
	return EXIT_DONE;
}
