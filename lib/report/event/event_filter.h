/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that a report is about: those that pass each list of the filter, by any item of the
 * list. An empty list passes all events, so a filter of zeroes passes all.
 */
#ifndef LIB_REPORT_EVENT_FILTER_H
#define LIB_REPORT_EVENT_FILTER_H

#include "array.h"
#include "number_list.h"
#include "trace/read/reader.h"

/* Set while events are filtered: an event was met; an event passed. */
struct event_filter_use {
	bool met, passed;
};

struct event_filter {
	struct string_list comms;   /* globs */
	struct string_list cgroups; /* each with its descendants; also as directories of systemd */
	struct string_list events;  /* globs over names of sources */
	struct string_list traces, spans; /* ids, or their first digits */
	struct number_list pids, tids, cpus;
	u64 from, to;		      /* time in ns, both included; to 0: no end */
	struct event_filter_use *use; /* NULL: not wanted */
};

/* -ENOENT: the recording lacks the named source; or the filter names a cgroup, a trace or a span,
 * and the recording has no cgroups or no trace ids. -EINVAL: malformed id of a trace or span. */
int event_filter_check(const struct event_filter *filter, const struct trace_reader *reader,
		       struct stackmap_error *error);

/* Whether the filter lets a thread pass, as it is at a time: of the lists only those of tasks. */
bool event_filter_passes_thread(const struct event_filter *filter,
				const struct trace_reader *reader, u32 tid, u64 time);

bool event_filter_passes(const struct event_filter *filter, const struct trace_reader *reader,
			 const struct trace_event *event);

#endif
