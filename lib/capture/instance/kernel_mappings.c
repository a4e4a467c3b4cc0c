/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* If addresses are hidden, names and build ids still identify the kernel. */
#include "capture/instance/kernel_mappings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "format/mappings_text.h"
#include "symbol/kernel/kernel_image.h"

struct gathering {
	struct kernel_mappings *lines;
	FILE *to;
	long begin; /* of the line */
	bool hides_addresses;
};

static int add_line(void *arg, const struct trace_module *module)
{
	struct gathering *gathering = arg;
	struct trace_module shown = *module;
	long length;

	if (gathering->hides_addresses)
		shown.start = shown.end = 0;
	mappings_put_module(&shown, gathering->to);
	fputc(0, gathering->to);
	length = ftell(gathering->to) - gathering->begin;
	gathering->begin += length;
	gathering->lines->count++;
	if (length > gathering->lines->longest)
		gathering->lines->longest = length;
	return ferror(gathering->to) ? -ENOMEM : 0;
}

int kernel_mappings_read(const struct kernel_files *files, bool hides_addresses,
			 struct kernel_mappings *lines, struct stackmap_error *error)
{
	struct gathering gathering = {.lines = lines, .hides_addresses = hides_addresses};
	int result;

	*lines = (struct kernel_mappings){};
	gathering.to = open_memstream(&lines->text, &lines->bytes);
	if (!gathering.to)
		return error_set(error, ENOMEM, "mappings: %s", strerror(ENOMEM));
	result = kernel_image_modules(files, add_line, &gathering, error);
	fclose(gathering.to);
	if (result)
		kernel_mappings_clear(lines);
	return result;
}

void kernel_mappings_clear(struct kernel_mappings *lines)
{
	free(lines->text);
	*lines = (struct kernel_mappings){};
}
