/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a line of one event calls its source. */
#ifndef LIB_TRACE_SOURCE_NAME_H
#define LIB_TRACE_SOURCE_NAME_H

/* A tracepoint goes by its own name, as in ftrace: "sched_switch", not "sched:sched_switch". Part
 * of `name`. */
const char *trace_source_short_name(const char *name);

#endif
