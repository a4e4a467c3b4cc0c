/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that a report is about: those that pass each list of the filter, by any item of the
 * list. An empty list passes all events, so a filter of zeroes passes all.
 */
#ifndef LIB_REPORT_EVENT_FILTER_H
#define LIB_REPORT_EVENT_FILTER_H

#include "array.h"
#include "number_list.h"
#include "report/name/process_attributes.h"
#include "trace/read/reader.h"

/* Set while events are filtered: `met` at the first event, `passed` at the first event that
 * passes. */
struct event_filter_use {
	bool met, passed;
	/* whether attributes pass, since reading them takes long; at a hash of their numbers.
	 * event_filter_check() empties the table. */
	struct {
		struct attribute_numbers from; /* all 0: the slot is free */
		bool passes;
	} attributes[256];
	struct kept_process kept; /* event_filter_end_use() frees it */
};

struct event_filter {
	struct string_list comms; /* globs for names of tasks */
	/* Paths, with or without /sys/fs/cgroup in front; descendants of a cgroup pass, too. */
	struct string_list cgroups;
	struct string_list events;	  /* globs over names of sources */
	struct string_list traces, spans; /* hexadecimal ids, or the first digits of ids */
	/* NAME=GLOB: attributes that the process or the thread publishes. For each name in
	 * the list, one glob must match. */
	struct string_list attributes;
	struct number_list pids, tids, cpus;
	u64 from, to; /* range of time, ns; events at exactly these times pass. `to` 0: no end */
	/* set while events are filtered; NULL: the caller does not need it */
	struct event_filter_use *use;
};

/* -EINVAL: an id of a trace or span, or an attribute, is malformed. */
int event_filter_check_syntax(const struct event_filter *filter, struct stackmap_error *error);

/* Compares the filter with the recording. -ENOENT: the recording lacks the named source; or the
 * filter names a cgroup, a trace, a span or an attribute, and the recording has no cgroups, trace
 * ids or attributes. -EINVAL: as event_filter_check_syntax(). Called for each recording before its
 * events are filtered. */
int event_filter_check(const struct event_filter *filter, const struct trace_reader *reader,
		       struct stackmap_error *error);

/* Frees what the filter keeps of a recording, before the reader is closed. */
void event_filter_end_use(const struct event_filter *filter);

/* Tests a thread, with its name and cgroup at the time, against the lists of tasks: comms, cgroups,
 * pids and tids. */
bool event_filter_passes_thread(const struct event_filter *filter,
				const struct trace_reader *reader, u32 tid, u64 time);

bool event_filter_passes(const struct event_filter *filter, const struct trace_reader *reader,
			 const struct trace_event *event);

#endif
