/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which events of a recording a report is about: those that pass each of its lists, by any item of
 * the list. An empty list lets all pass, so a filter of all zeroes does.
 */
#ifndef LIB_REPORT_EVENT_FILTER_H
#define LIB_REPORT_EVENT_FILTER_H

#include "number_list.h"
#include "string_list.h"
#include "trace/read/reader.h"

/* Set as events come: there was one at all, one has passed. */
struct event_filter_use {
	bool met, passed;
};

struct event_filter {
	struct string_list comms;   /* globs */
	struct string_list cgroups; /* each with those below it; also as directories of systemd */
	struct string_list events;  /* globs over names of sources */
	struct number_list pids, tids, cpus;
	u64 from, to;		      /* time in ns, both included; to 0: no end */
	struct event_filter_use *use; /* or NULL: nobody asks */
};

/* -ENOENT when a source is asked for that the recording does not have, or a cgroup and it knows of
 * none. */
int event_filter_check(const struct event_filter *filter, const struct trace_reader *reader,
		       struct stackmap_error *error);

bool event_filter_passes(const struct event_filter *filter, const struct trace_reader *reader,
			 const struct trace_event *event);

#endif
