/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Written from a recording, read back by `dump`. Paths are kept in a sorted array. */
#include "mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "format.h"

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
	size_t room = mappings->room ? 2 * mappings->room : 64;
	struct numbered_path *paths;
	char *copy;

	if (mappings->count == mappings->room) {
		paths = reallocarray(mappings->paths, room, sizeof(*paths));
		if (!paths)
			return -ENOMEM;
		mappings->paths = paths;
		mappings->room = room;
	}
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

static int parse_user(struct mappings *mappings, const char *line)
{
	unsigned int number;
	int path = 0;

	if (sscanf(line, "%7u %*[-0-9a-f] %n", &number, &path) != 1 || !path || !line[path])
		return -EBADMSG;
	if (number > FRAME_MAPPING_MAX)
		return -EBADMSG;
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

static void put_build_id(const u8 *build_id, u32 bytes, FILE *to)
{
	for (u32 i = 0; i < bytes; i++)
		fprintf(to, "%02x", build_id[i]);
	if (!bytes)
		fputc('-', to);
}

static void put_path(const char *path, FILE *to)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < ' ' || c == 0x7f || c == '\\')
			fprintf(to, "\\%03o", c);
		else
			fputc(c, to);
	}
}

static void put_module(const struct trace_module *module, FILE *to)
{
	fputs("kernel ", to);
	put_path(module->name, to);
	fprintf(to, " 0x%llx-0x%llx ", (unsigned long long)module->start,
		(unsigned long long)module->end);
	put_build_id(module->build_id, module->build_id_bytes, to);
	fputc('\n', to);
}

static void put_mapping(const struct trace_mapping *mapping, FILE *to)
{
	fprintf(to, "%u ", mapping->number);
	put_build_id(mapping->build_id, mapping->build_id_bytes, to);
	fputc(' ', to);
	put_path(mapping->path, to);
	fputc('\n', to);
}

static int mappings_write(struct trace_reader *reader, const struct format_options *options,
			  FILE *to, struct stackmap_error *error)
{
	const struct trace_module *modules;
	const struct trace_mapping *mappings;
	u32 module_count = trace_reader_modules(reader, &modules);
	u32 mapping_count = trace_reader_mappings(reader, &mappings);

	(void)options;
	(void)error;
	for (u32 i = 0; i < module_count; i++)
		put_module(&modules[i], to);
	for (u32 i = 0; i < mapping_count; i++)
		put_mapping(&mappings[i], to);
	return 0;
}

const struct format mappings_format = {
	.name = "mappings",
	.meaning = "what the frames of stack_map_bin refer to: files, build ids, load addresses",
	.write = mappings_write,
};
