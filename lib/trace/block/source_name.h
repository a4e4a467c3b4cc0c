/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kind of a source, read from its name. */
#ifndef LIB_TRACE_SOURCE_NAME_H
#define LIB_TRACE_SOURCE_NAME_H

#include <stdbool.h>

/* A tracepoint has its name without the system, as in ftrace: "sched_switch", not
 * "sched:sched_switch". The result points into `name`. */
const char *trace_source_short_name(const char *name);

/* The state in the name of a source of state events (--time), whose events are waits of a thread in
 * one state: "runnable" of "time:runnable". The state points into `name`. NULL: the source has no
 * state events. */
#define TRACE_STATE_PREFIX "time:"
const char *trace_source_state(const char *name);

/* The source of origins. An origin belongs to the event of the same time and CPU, which occurred in
 * queued work. The origin has the stacks of the task that has queued the work. Its value is the
 * time from the queueing to the event in ns. The value has no unit, so that no report adds such
 * times up. */
#define TRACE_ORIGIN "queued-by"

/* The source of a span is "span:BEGIN..END"; the source of the span's begin is "span:BEGIN..". With
 * stack=both (record), each event of a span has an event of its begin with the same time and CPU.
 * The event of the begin has the stacks and the thread of the begin, and the value of the span. */
bool trace_source_is_span(const char *name);
bool trace_source_is_span_begin(const char *name);

#endif
