/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of cgroups, traces and spans. */
#ifndef LIB_TRACE_READ_NAMES_H
#define LIB_TRACE_READ_NAMES_H

#include "trace/read/reader.h"

#define TRACE_CGROUP_ROOM 32

/* Returns the path; "[cgroup ID]" for a cgroup without a path, "[unknown]" for number 0. The result
 * may be in `room`. */
const char *trace_cgroup_name(const struct trace_reader *reader, u32 number,
			      char room[TRACE_CGROUP_ROOM]);

/* True if the path `name` is the ancestor or a descendant of it. Slashes at the ancestor's end are
 * ignored. */
bool trace_cgroup_is_within(const char *name, const char *ancestor);

#define CONTEXT_NAME_ROOM 33
#define CONTEXT_NAME_NONE "-" /* text for an event without a trace and a span */

/* Writes an id to `room` in hexadecimal digits, as W3C Trace Context does, and returns `room`, or
 * returns CONTEXT_NAME_NONE if `context` is NULL. */
const char *format_trace_id_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM]);
const char *format_span_id_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM]);

#endif
