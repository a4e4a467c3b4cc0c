/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formats that a recording can be exported to. Each is one file of this folder, which ends with its
 * struct format; format.c lists them.
 */
#ifndef LIB_FORMAT_FORMAT_H
#define LIB_FORMAT_FORMAT_H

#include <stdio.h>

#include "report/event_filter.h"
#include "trace/reader.h"

struct format_options {
	struct event_filter filter;
	bool demangled;
};

struct format {
	const char *name;
	const char *meaning;

	/* Errors of `to` may be left to the caller, who looks at ferror() and fclose(). */
	int (*write)(struct trace_reader *reader, const struct format_options *options, FILE *to,
		     struct stackmap_error *error);
};

extern const struct format folded_format;
extern const struct format stack_map_bin_format;
extern const struct format json_format;
extern const struct format mappings_format;

/* The last is NULL. */
extern const struct format *const formats[];

/* Or NULL. */
const struct format *format_find(const char *name);

#endif
