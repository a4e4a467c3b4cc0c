/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses line by line. Lines of user code are kept in an array that is sorted once. Paths that are
 * written are untrusted: each byte of an unprintable character is escaped.
 */
#include "format/mappings_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "format/printable.h"
#include "hex.h"
#include "stack.h"

struct mappings {
	struct trace_mapping *user;
	struct trace_module *kernel;
	u32 user_count, user_room, kernel_count, kernel_room;
};

static int compare_numbers(const void *a, const void *b)
{
	const struct trace_mapping *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/*
 * Parses the build id, which ends at a blank or at the end of the line, and returns its bytes. `-`,
 * and an id that is too long, give no build id.
 */
static u32 parse_build_id(const char *hex, u8 build_id[TRACE_BUILD_ID_MAX])
{
	u32 bytes = hex_bytes(hex, build_id, TRACE_BUILD_ID_MAX);

	return bytes < TRACE_BUILD_ID_MAX || hex_value(hex[2 * bytes]) < 0 ? bytes : 0;
}

static int parse_kernel_line(struct mappings *mappings, const char *line)
{
	struct trace_module module = {};
	unsigned long long start, end;
	char name[64];
	int id = 0;

	if (sscanf(line, "kernel %63s 0x%llx-0x%llx %n", name, &start, &end, &id) != 3)
		return -EBADMSG;
	if (array_make_room(mappings->kernel, mappings->kernel_count, mappings->kernel_room))
		return -ENOMEM;
	module.name = strdup(name);
	if (!module.name)
		return -ENOMEM;
	module.start = start;
	module.end = end;
	module.build_id_bytes = parse_build_id(line + id, module.build_id);
	mappings->kernel[mappings->kernel_count++] = module;
	return 0;
}

/* Decodes \ooo to a byte, in place. */
static void unescape_path(char *path)
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

static int parse_user_line(struct mappings *mappings, char *line)
{
	struct trace_mapping user = {};
	int id = 0, path = 0;

	if (sscanf(line, "%7u %n%*[-0-9a-f] %n", &user.number, &id, &path) != 1 || !path ||
	    !line[path])
		return -EBADMSG;
	if (user.number > FRAME_MAPPING_MAX)
		return -EBADMSG;
	if (array_make_room(mappings->user, mappings->user_count, mappings->user_room))
		return -ENOMEM;
	unescape_path(line + path);
	if (!line[path]) /* the path begins with \000 */
		return -EBADMSG;
	user.path = strdup(line + path);
	if (!user.path)
		return -ENOMEM;
	user.build_id_bytes = parse_build_id(line + id, user.build_id);
	mappings->user[mappings->user_count++] = user;
	return 0;
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
		err = strlen(line) == (size_t)bytes ? 0 : -EBADMSG;
		line[strcspn(line, "\n")] = '\0';
		if (!err)
			err = strncmp(line, "kernel ", 7) ? parse_user_line(mappings, line)
							  : parse_kernel_line(mappings, line);
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

void mappings_free(struct mappings **mappings)
{
	struct mappings *old = *mappings;

	if (!old)
		return;
	for (u32 i = 0; i < old->user_count; i++)
		free((char *)old->user[i].path);
	for (u32 i = 0; i < old->kernel_count; i++)
		free((char *)old->kernel[i].name);
	free(old->user);
	free(old->kernel);
	free(old);
	*mappings = NULL;
}

const struct trace_mapping *mappings_find(const struct mappings *mappings, u32 number)
{
	const struct trace_mapping key = {.number = number};

	if (!mappings->user_count)
		return NULL;
	return bsearch(&key, mappings->user, mappings->user_count, sizeof(key), compare_numbers);
}

const char *mappings_path(const struct mappings *mappings, u32 number)
{
	const struct trace_mapping *found = mappings_find(mappings, number);

	return found ? found->path : NULL;
}

u32 mappings_kernel_modules(const struct mappings *mappings, const struct trace_module **modules)
{
	*modules = mappings->kernel;
	return mappings->kernel_count;
}

u64 mappings_kernel_start(const struct mappings *mappings)
{
	u64 start = 0;

	for (u32 i = 0; i < mappings->kernel_count; i++)
		if (strcmp(mappings->kernel[i].name, "vmlinux") == 0)
			start = mappings->kernel[i].start;
	return start;
}

static void put_build_id(const u8 *build_id, u32 bytes, FILE *to)
{
	for (u32 i = 0; i < bytes; i++)
		fprintf(to, "%02x", build_id[i]);
	if (!bytes)
		fputc('-', to);
}

static void put_escaped_path(const char *path, FILE *to)
{
	for (u32 bytes; *path; path += bytes) {
		bool plain = classify_next_character(path, &bytes) == PRINTABLE && *path != '\\';

		for (u32 i = 0; i < bytes; i++)
			fprintf(to, plain ? "%c" : "\\%03o", (u8)path[i]);
	}
}

void mappings_put_module(const struct trace_module *module, FILE *to)
{
	fputs("kernel ", to);
	put_escaped_path(module->name, to);
	fprintf(to, " 0x%llx-0x%llx ", (unsigned long long)module->start,
		(unsigned long long)module->end);
	put_build_id(module->build_id, module->build_id_bytes, to);
}

void mappings_put_mapping(const struct trace_mapping *mapping, FILE *to)
{
	fprintf(to, "%u ", mapping->number);
	put_build_id(mapping->build_id, mapping->build_id_bytes, to);
	fputc(' ', to);
	put_escaped_path(*mapping->path ? mapping->path : "[unknown]", to);
}
