/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files are OUTPUT.0001, OUTPUT.0002... If a recorder is started again, its first number
 * follows the highest existing one, and the files of earlier recorders count for the number of
 * files to keep.
 */
#include "session/rotation.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "number_list.h"
#include "session/duration.h"

#define DIGITS "[0-9]"

int rotation_parse_option(const char *word, u64 keep, const char *output, struct rotation *rotation,
			  struct stackmap_error *error)
{
	u64 ms;

	*rotation = (struct rotation){.keep = keep, .output = output};
	if (word && duration_parse_ms(word, &ms) &&
	    ms >= 1000) { /* shortest time of a file in milliseconds: a second */
		rotation->period_ms = ms;
		return 0;
	}
	if (!word || (!number_parse(word, true, &rotation->bytes) && rotation->bytes))
		return 0;
	return error_set(error, EINVAL,
			 "--rotate %s: neither a time (60s, 10min, 2h) nor a size (100M)", word);
}

bool rotation_is_due(const struct rotation *rotation, u64 now_ms, u64 bytes)
{
	return (rotation->period_ms && now_ms >= rotation->end_ms) ||
	       (rotation->bytes && bytes >= rotation->bytes);
}

/* The output's name as a pattern of glob(3) that matches only this name. */
static char *escape_pattern(const char *text)
{
	char *pattern = malloc(2 * strlen(text) + 1), *end = pattern;

	for (; pattern && *text; text++) {
		if (strchr("\\*?[", *text))
			*end++ = '\\';
		*end++ = *text;
	}
	if (pattern)
		*end = 0;
	return pattern;
}

static int find_rotated_files(const struct rotation *rotation, glob_t *found)
{
	char *name = escape_pattern(rotation->output), *pattern = NULL;
	int result = -1;

	if (name && asprintf(&pattern, "%s." DIGITS DIGITS DIGITS DIGITS "*", name) >= 0) {
		result = glob(pattern, GLOB_NOSORT, NULL, found);
		free(pattern);
	}
	free(name);
	return result;
}

/* The number at the end of a file's name, after the output's name; 0: the file is not one of the
 * rotation. */
static u64 parse_file_number(const struct rotation *rotation, const char *path)
{
	const char *digits = path + strlen(rotation->output) + 1;
	u64 number;

	if (strspn(digits, "0123456789") != strlen(digits))
		return 0;
	number = strtoull(digits, NULL, 10);
	return number < UINT32_MAX ? number : 0;
}

static u64 find_highest_file_number(const struct rotation *rotation)
{
	u64 highest = 0;
	glob_t found;

	if (find_rotated_files(rotation, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		u64 number = parse_file_number(rotation, found.gl_pathv[i]);

		highest = number > highest ? number : highest;
	}
	globfree(&found);
	return highest;
}

static void remove_oldest_files(const struct rotation *rotation, struct stackmap_error *error)
{
	glob_t found;

	if (!rotation->keep || find_rotated_files(rotation, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		u64 number = parse_file_number(rotation, found.gl_pathv[i]);

		if (!number || number + rotation->keep > rotation->number)
			continue;
		if (unlink(found.gl_pathv[i]))
			error_set_errno(error, errno, found.gl_pathv[i]);
	}
	globfree(&found);
}

char *rotation_name_next_and_remove_oldest(struct rotation *rotation, u64 now_ms,
					   struct stackmap_error *error)
{
	char *path;

	rotation->number =
		rotation->number ? rotation->number + 1 : find_highest_file_number(rotation) + 1;
	rotation->end_ms = now_ms + rotation->period_ms;
	error->message[0] = '\0';
	remove_oldest_files(rotation, error);
	if (asprintf(&path, "%s.%04llu", rotation->output, (unsigned long long)rotation->number) <
	    0)
		return NULL;
	return path;
}
