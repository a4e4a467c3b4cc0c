/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The short name of a source, for lines with one event each. */
#ifndef LIB_TRACE_SOURCE_NAME_H
#define LIB_TRACE_SOURCE_NAME_H

/* A tracepoint has its name without the system, as in ftrace: "sched_switch", not
 * "sched:sched_switch". The result points into `name`. */
const char *trace_source_short_name(const char *name);

#endif
