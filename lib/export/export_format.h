/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formats that a recording can be exported to. Each is one file of this folder, which ends with its
 * struct export_format; export_format.c lists them.
 */
#ifndef LIB_EXPORT_EXPORT_FORMAT_H
#define LIB_EXPORT_EXPORT_FORMAT_H

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

#include "array.h"
#include "report/event/event_filter.h"
#include "report/name/frame_names.h"
#include "trace/read/reader.h"

/* The host and service that a format names. All zero: the host of the recording, no service. */
struct export_identity {
	const char *host;    /* name of the host; NULL: the host of the recording */
	const char *service; /* name of the service; NULL: left out, or derived from each sample's
				cgroup */
	const char *version; /* version of the service; NULL: left out */
	struct string_list labels; /* further labels: texts "KEY=VALUE" */
};

struct export_options {
	struct event_filter filter;
	struct frame_naming naming;
	const char *by; /* argument `by` of profile_weigh(), for weighed formats */
	struct export_identity identity;
	/* true: pprof writes "." in place of ":" in sample types, since receivers take ":" for a
	 * separator */
	bool no_colons;
};

struct export_format {
	const char *name;
	bool binary;  /* true: the format is not text, so it is not written to a terminal */
	bool weighed; /* true: each stack has one weight, which `by` chooses */

	/* Writes the recording. Write errors need not be returned: the caller checks ferror() and
	 * fclose() of `to`. */
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
extern const struct export_format perfetto_format;
extern const struct export_format stack_map_bin_format;
extern const struct export_format mappings_format;

#define EXPORT_FORMATS                                                                             \
	"folded, json, pprof, otlp, speedscope, perf-script, chrome, perfetto, stack_map_bin, "    \
	"mappings"

/* All formats; the last entry is NULL. */
extern const struct export_format *const export_formats[];

/* Finds a format by its name. NULL: no format has this name. */
const struct export_format *export_format_find(const char *name);

/* The unit of a value in the words of pprof, OTLP and speedscope: "nanoseconds", "bytes"...; NULL:
 * these formats have no word for the unit. */
const char *value_unit_word(const char *unit);

/* Writes a message to a file. A write error shows in ferror() of `to`. */
void export_pack_to_file(const ProtobufCMessage *message, FILE *to);

#endif
