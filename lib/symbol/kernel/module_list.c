/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/modules gives the address of a module's text and the size of all its memory. Since 6.4
 * text, data and init memory lie apart, so address + size may reach into the next module. A module
 * then ends at the start of the next one.
 */
#include "module_list.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "symbol/file/whole_file.h"

/* A longer line, with a long list of users before the address, is left out. */
#define LINE_BYTES 4096

static int parse_line(const char *line, size_t bytes, struct module *module)
{
	char copy[LINE_BYTES];
	unsigned long long size, start;

	if (bytes >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, line, bytes);
	copy[bytes] = 0;
	if (sscanf(copy, "%63s %llu %*s %*s %*s 0x%llx", module->name, &size, &start) != 3)
		return -EINVAL;
	module->start = start;
	module->end = start && size < UINT64_MAX - start ? start + size : start;
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct module *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

int module_list_parse(const char *text, size_t bytes, struct module_list *list)
{
	const char *end = text + bytes;
	struct module_list found = {};

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		size_t length = (newline ? newline : end) - text;
		struct module module = {};

		if (!parse_line(text, length, &module)) {
			if (array_make_room(found.modules, found.count, found.room)) {
				module_list_clear(&found);
				return -ENOMEM;
			}
			found.modules[found.count++] = module;
		}
		text += length + 1;
	}
	if (found.count)
		qsort(found.modules, found.count, sizeof(*found.modules), by_address);
	for (u32 i = 0; i + 1 < found.count; i++)
		if (found.modules[i].end > found.modules[i + 1].start)
			found.modules[i].end = found.modules[i + 1].start;
	*list = found;
	return 0;
}

int module_list_read_open(int fd, struct module_list *list)
{
	char *text;
	size_t bytes;
	int err;

	if (fd < 0) {
		*list = (struct module_list){};
		return 0;
	}
	err = whole_file_read_open(fd, &text, &bytes);
	if (err)
		return err;
	err = module_list_parse(text, bytes, list);
	free(text);
	return err;
}

const struct module *module_list_find(const struct module_list *list, const char *name,
				      size_t name_bytes)
{
	for (u32 i = 0; i < list->count; i++) {
		const struct module *module = &list->modules[i];

		if (strlen(module->name) == name_bytes && !memcmp(module->name, name, name_bytes))
			return module;
	}
	return NULL;
}

void module_list_clear(struct module_list *list)
{
	free(list->modules);
	*list = (struct module_list){};
}
