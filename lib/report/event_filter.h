/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events of a recording a report is about. A filter of all zeroes with pid, tid and cpu
 * FILTER_ANY lets all pass. */
#ifndef LIB_REPORT_EVENT_FILTER_H
#define LIB_REPORT_EVENT_FILTER_H

#include "trace/reader.h"

#define FILTER_ANY UINT64_MAX

struct event_filter {
	const char *comm;   /* glob, NULL: any */
	const char *cgroup; /* its tasks and those below it, NULL: any */
	const char *event;  /* glob over names of sources, NULL: any */
	u64 pid, tid, cpu;
	u64 from, to; /* time in ns, both included; to 0: no end */
};

/* -ENOENT when a source is asked for that the recording does not have, or a cgroup and it knows of
 * none. */
int event_filter_check(const struct event_filter *filter, const struct trace_reader *reader,
		       struct stackmap_error *error);

bool event_filter_passes(const struct event_filter *filter, const struct trace_reader *reader,
			 const struct trace_event *event);

#endif
