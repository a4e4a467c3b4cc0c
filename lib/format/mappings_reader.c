/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses line by line. Lines of user code are kept in an array that is sorted once. */
#include "mappings_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "hex.h"
#include "stack.h"

struct mappings {
	struct mapping_text *user, *kernel;
	u32 user_count, user_room, kernel_count, kernel_room;
};

static int compare_numbers(const void *a, const void *b)
{
	const struct mapping_text *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/*
 * Parses the build id, which ends at a blank or at the end of the line. `-`, and an id that is too
 * long, give no build id.
 */
static void parse_build_id(const char *hex, struct mapping_text *line)
{
	u32 bytes = hex_bytes(hex, line->build_id, MAPPING_BUILD_ID_MAX);

	if (bytes < MAPPING_BUILD_ID_MAX || hex_value(hex[2 * bytes]) < 0)
		line->build_id_bytes = bytes;
}

static int parse_kernel(struct mappings *mappings, const char *line)
{
	struct mapping_text module = {};
	unsigned long long start, end;
	char name[64];
	int id = 0;

	if (sscanf(line, "kernel %63s 0x%llx-0x%llx %n", name, &start, &end, &id) != 3)
		return -EBADMSG;
	if (array_make_room(mappings->kernel, mappings->kernel_count, mappings->kernel_room))
		return -ENOMEM;
	module.path = strdup(name);
	if (!module.path)
		return -ENOMEM;
	module.start = start;
	module.end = end;
	parse_build_id(line + id, &module);
	mappings->kernel[mappings->kernel_count++] = module;
	return 0;
}

/* Decodes \ooo to a byte, in place. */
static void unescape(char *path)
{
	char *end = path;

	for (; *path; end++)
		if (path[0] == '\\' && strspn(path + 1, "01234567") >= 3) {
			*end = (char)((path[1] - '0') << 6 | (path[2] - '0') << 3 |
				      (path[3] - '0'));
			path += 4;
		} else {
			*end = *path++;
		}
	*end = '\0';
}

static int parse_user(struct mappings *mappings, char *line)
{
	struct mapping_text user = {};
	int id = 0, path = 0;

	if (sscanf(line, "%7u %n%*[-0-9a-f] %n", &user.number, &id, &path) != 1 || !path ||
	    !line[path])
		return -EBADMSG;
	if (user.number > FRAME_MAPPING_MAX)
		return -EBADMSG;
	if (array_make_room(mappings->user, mappings->user_count, mappings->user_room))
		return -ENOMEM;
	unescape(line + path);
	if (!line[path]) /* \000 */
		return -EBADMSG;
	user.path = strdup(line + path);
	if (!user.path)
		return -ENOMEM;
	parse_build_id(line + id, &user);
	mappings->user[mappings->user_count++] = user;
	return 0;
}

static int parse_line(struct mappings *mappings, char *line, size_t bytes)
{
	if (strlen(line) != bytes)
		return -EBADMSG;
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "kernel ", 7) == 0)
		return parse_kernel(mappings, line);
	return parse_user(mappings, line);
}

static int parse_lines(struct mappings *mappings, FILE *from, struct stackmap_error *error)
{
	char *line = NULL;
	size_t room = 0;
	u64 offset = 0;
	ssize_t bytes;
	int err = 0;

	errno = 0;
	while (!err && (bytes = getline(&line, &room, from)) >= 0) {
		err = parse_line(mappings, line, (size_t)bytes);
		if (err == -EBADMSG)
			error_set_at(error, EBADMSG, offset,
				     "the line at byte %llu is not one of a mappings file",
				     (unsigned long long)offset);
		offset += (u64)bytes;
	}
	if (!err && !feof(from))
		err = -(errno ? errno : EIO);
	free(line);
	return err == 0 || err == -EBADMSG ? err : error_set(error, -err, "%s", strerror(-err));
}

int mappings_read(FILE *from, struct mappings **out, struct stackmap_error *error)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));
	int err;

	if (!mappings)
		return error_set(error, ENOMEM, "not enough memory");
	err = parse_lines(mappings, from, error);
	if (err) {
		mappings_free(&mappings);
		return err;
	}
	if (mappings->user_count)
		qsort(mappings->user, mappings->user_count, sizeof(*mappings->user),
		      compare_numbers);
	*out = mappings;
	return 0;
}

static void lines_free(struct mapping_text *lines, u32 count)
{
	for (u32 i = 0; i < count; i++)
		free(lines[i].path);
	free(lines);
}

void mappings_free(struct mappings **mappings)
{
	if (!*mappings)
		return;
	lines_free((*mappings)->user, (*mappings)->user_count);
	lines_free((*mappings)->kernel, (*mappings)->kernel_count);
	free(*mappings);
	*mappings = NULL;
}

const struct mapping_text *mappings_find(const struct mappings *mappings, u32 number)
{
	const struct mapping_text key = {.number = number};

	if (!mappings->user_count)
		return NULL;
	return bsearch(&key, mappings->user, mappings->user_count, sizeof(key), compare_numbers);
}

const char *mappings_path(const struct mappings *mappings, u32 number)
{
	const struct mapping_text *found = mappings_find(mappings, number);

	return found ? found->path : NULL;
}

u32 mappings_kernel(const struct mappings *mappings, const struct mapping_text **lines)
{
	*lines = mappings->kernel;
	return mappings->kernel_count;
}

u64 mappings_kernel_start(const struct mappings *mappings)
{
	u64 start = 0;

	for (u32 i = 0; i < mappings->kernel_count; i++)
		if (strcmp(mappings->kernel[i].path, "vmlinux") == 0)
			start = mappings->kernel[i].start;
	return start;
}
