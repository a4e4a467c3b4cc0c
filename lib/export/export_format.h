/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formats that a recording can be exported to. Each is one file of this folder, which ends with its
 * struct export_format; export_format.c lists them.
 */
#ifndef LIB_EXPORT_EXPORT_FORMAT_H
#define LIB_EXPORT_EXPORT_FORMAT_H

#include <stdio.h>

#include "report/event/event_filter.h"
#include "report/name/frame_names.h"
#include "string_list.h"
#include "trace/read/reader.h"

/* Whose recording it is, for formats that say so. All zero: as the recording says. */
struct export_identity {
	const char *host;	   /* NULL: the recording's */
	const char *service;	   /* NULL: not said, or that of each sample's cgroup */
	const char *version;	   /* of the service; NULL: not said */
	struct string_list labels; /* "KEY=VALUE" */
};

struct export_options {
	struct event_filter filter;
	struct frame_naming naming;
	const char *by; /* of a weighed format: as for profile_weigh() */
	struct export_identity identity;
	bool no_colons; /* in the sample types of pprof: where they are part of a query's words */
};

struct export_format {
	const char *name;
	bool binary;  /* not for terminals */
	bool weighed; /* a stack has one number only: what that is can be chosen */

	/* Errors of `to` may be left to the caller, who looks at ferror() and fclose(). */
	int (*write)(struct trace_reader *reader, const struct export_options *options, FILE *to,
		     struct stackmap_error *error);
};

extern const struct export_format folded_format;
extern const struct export_format json_format;
extern const struct export_format pprof_format;
extern const struct export_format otlp_format;
extern const struct export_format speedscope_format;
extern const struct export_format perf_script_format;
extern const struct export_format chrome_format;
extern const struct export_format stack_map_bin_format;
extern const struct export_format mappings_format;

#define EXPORT_FORMATS                                                                             \
	"folded, json, pprof, otlp, speedscope, perf-script, chrome, stack_map_bin, mappings"

/* In the same order; the last is NULL. */
extern const struct export_format *const export_formats[];

/* Or NULL. */
const struct export_format *export_format_find(const char *name);

#endif
