/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often each combination of source, task name, stacks and leaf occurs in a recording: the one
 * pass over all events, after which a report has only to do with combinations. They are as the file
 * has them, so several may come to the same when their frames are named.
 *
 *   sum of all counts = number of events that pass the filter
 */
#ifndef LIB_REPORT_EVENT_COUNTS_H
#define LIB_REPORT_EVENT_COUNTS_H

#include "event_filter.h"
#include "event_paths.h"

/* What also tells events apart. */
enum event_split {
	EVENTS_BY_PID = 1 << 0,
	EVENTS_BY_TID = 1 << 1,
	EVENTS_BY_CPU = 1 << 2,
	EVENTS_BY_CGROUP = 1 << 3,
};

/* Without padding: compared as bytes. */
struct event_key {
	u32 kernel; /* stack index, or TRACE_NO_STACK */
	u32 user;
	u32 leaf; /* as event_paths_leaf() gives it, or PATH_NO_LEAF */
	u32 comm; /* index in comms */
	u16 kind;
	u8 kernel_reason; /* 0 with a stack */
	u8 user_reason;
	u32 leaf_in_kernel;
	u32 pid, tid, cpu; /* 0 if events are not split by it, or it is not known */
	u32 cgroup;	   /* its number; the same */
};

struct event_count {
	struct event_key key;
	u64 count;
	u64 value; /* sum */
};

struct event_counts {
	struct event_count *items;
	u32 count;
	char (*comms)[16]; /* "" for a task that is not known */
	u64 first, last;   /* time of the first and last event, ns */
	u64 events;
};

/* `split`: enum event_split, as bits. All zero on failure. */
int event_counts_read(struct event_counts *counts, struct trace_reader *reader,
		      struct event_paths *paths, const struct event_filter *filter, u32 split,
		      struct stackmap_error *error);
void event_counts_free(struct event_counts *counts);

#endif
