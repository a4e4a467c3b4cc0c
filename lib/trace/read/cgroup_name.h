/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What cgroups are called, and which of them lie in which. */
#ifndef LIB_TRACE_CGROUP_NAME_H
#define LIB_TRACE_CGROUP_NAME_H

#include "trace/read/reader.h"

#define TRACE_CGROUP_ROOM 32

/* The path; "[cgroup ID]" for one without, "[unknown]" for number 0. Some are put into `room`. */
const char *trace_cgroup_name(const struct trace_reader *reader, u32 number,
			      char room[TRACE_CGROUP_ROOM]);

/* Whether it is the ancestor or below it. Slashes at the ancestor's end mean nothing. */
bool trace_cgroup_is_within(const char *name, const char *ancestor);

#endif
