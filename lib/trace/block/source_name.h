/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kind of a source, read from its name. */
#ifndef LIB_TRACE_SOURCE_NAME_H
#define LIB_TRACE_SOURCE_NAME_H

/* A tracepoint has its name without the system, as in ftrace: "sched_switch", not
 * "sched:sched_switch". The result points into `name`. */
const char *trace_source_short_name(const char *name);

/* Events of the account of time are waits of a thread in one state, by their source: "runnable" of
 * "time:runnable". The state points into `name`; NULL: the events are others. */
#define TRACE_STATE_PREFIX "time:"
const char *trace_source_state(const char *name);

/* An event of this source tells who has queued the work that the event of the same time and CPU
 * belongs to. Its value is the time since then in ns, without a unit: such times have no sum. */
#define TRACE_ORIGIN "queued-by"

#endif
