/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of cgroups, and their hierarchy. */
#ifndef LIB_TRACE_CGROUP_NAME_H
#define LIB_TRACE_CGROUP_NAME_H

#include "trace/read/reader.h"

#define TRACE_CGROUP_ROOM 32

/* Returns the path; "[cgroup ID]" for a cgroup without a path, "[unknown]" for number 0. The result
 * may be in `room`. */
const char *trace_cgroup_name(const struct trace_reader *reader, u32 number,
			      char room[TRACE_CGROUP_ROOM]);

/* True if `name` is the ancestor or below it. Slashes at the ancestor's end are ignored. */
bool trace_cgroup_is_within(const char *name, const char *ancestor);

#endif
