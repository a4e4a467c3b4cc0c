/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Line by line; the paths are kept in an array that is sorted once. */
#include "mappings_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "stack.h"

struct numbered_path {
	u32 number;
	char *path;
};

struct mappings {
	u64 kernel_start;
	struct numbered_path *paths;
	size_t count, room;
};

static int compare_numbers(const void *a, const void *b)
{
	const struct numbered_path *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

static int add_path(struct mappings *mappings, u32 number, const char *path)
{
	char *copy;

	if (array_make_room(mappings->paths, mappings->count, mappings->room))
		return -ENOMEM;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	mappings->paths[mappings->count++] = (struct numbered_path){number, copy};
	return 0;
}

static int parse_kernel(struct mappings *mappings, const char *line)
{
	unsigned long long start, end;
	char name[64];

	if (sscanf(line, "kernel %63s 0x%llx-0x%llx", name, &start, &end) != 3)
		return -EBADMSG;
	if (strcmp(name, "vmlinux") == 0)
		mappings->kernel_start = start;
	return 0;
}

static bool is_escape(const char *text)
{
	return text[0] == '\\' && strspn(text + 1, "01234567") >= 3;
}

/* \ooo stands for a byte. */
static void unescape(char *path)
{
	char *end = path;

	for (; *path; end++)
		if (is_escape(path)) {
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
	unsigned int number;
	int path = 0;

	if (sscanf(line, "%7u %*[-0-9a-f] %n", &number, &path) != 1 || !path || !line[path])
		return -EBADMSG;
	if (number > FRAME_MAPPING_MAX)
		return -EBADMSG;
	unescape(line + path);
	return add_path(mappings, number, line + path);
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
	if (mappings->count)
		qsort(mappings->paths, mappings->count, sizeof(*mappings->paths), compare_numbers);
	*out = mappings;
	return 0;
}

void mappings_free(struct mappings **mappings)
{
	if (!*mappings)
		return;
	for (size_t i = 0; i < (*mappings)->count; i++)
		free((*mappings)->paths[i].path);
	free((*mappings)->paths);
	free(*mappings);
	*mappings = NULL;
}

const char *mappings_path(const struct mappings *mappings, u32 number)
{
	const struct numbered_path key = {.number = number}, *found;

	if (!mappings->count)
		return NULL;
	found = bsearch(&key, mappings->paths, mappings->count, sizeof(key), compare_numbers);
	return found ? found->path : NULL;
}

u64 mappings_kernel_start(const struct mappings *mappings)
{
	return mappings->kernel_start;
}
