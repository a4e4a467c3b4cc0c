/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts of each combination of source, task name, stacks and leaf in a recording. This is the one
 * pass over all events; reports work on the combinations. Combinations are those of the file, so
 * several may become equal when their frames are symbolized.
 *
 *    sum of all counts = number of events that pass the filter
 */
#ifndef LIB_REPORT_EVENT_COUNTS_H
#define LIB_REPORT_EVENT_COUNTS_H

#include "event_filter.h"
#include "event_paths.h"
#include "report/event/distribution.h"

/* Further members of the key, on demand. */
enum event_split {
	EVENTS_BY_PID = 1 << 0,
	EVENTS_BY_TID = 1 << 1,
	EVENTS_BY_CPU = 1 << 2,
	EVENTS_BY_CGROUP = 1 << 3,
	EVENTS_BY_TRACE = 1 << 5,
	EVENTS_BY_SPAN = 1 << 6,
	EVENTS_WITH_VALUES = 1 << 4, /* no member of the key: each count has its distribution */
};

/* Pieces of equal length of a recording's time. Each event is in one: those before the first piece
 * count there, those behind the last one in the last. */
struct time_slices {
	u64 begin, length; /* ns */
	u32 count;	   /* below 2^16; 0: the time is not divided */
};

static inline u32 time_slice_of(const struct time_slices *slices, u64 time)
{
	u64 slice;

	if (!slices->count || time <= slices->begin)
		return 0;
	slice = (time - slices->begin) / slices->length;
	return slice < slices->count ? (u32)slice : slices->count - 1;
}

/* Has no padding, as keys are compared as bytes. */
struct event_key {
	u32 kernel; /* stack index, or TRACE_NO_STACK */
	u32 user;
	u32 leaf; /* from event_paths_leaf(), or PATH_NO_LEAF */
	u32 comm; /* index in comms */
	u16 kind;
	u8 kernel_reason; /* 0 with a stack */
	u8 user_reason;
	u16 leaf_in_kernel;
	u16 slice;	   /* of time */
	u32 pid, tid, cpu; /* 0: events are not split by it, or it is unknown */
	u32 cgroup;	   /* number of the cgroup; 0 likewise */
	u32 context;  /* number of the trace and span, from 1 on; 0: not part of the key, or none */
	u32 reserved; /* 0 */
};

struct event_count {
	struct event_key key;
	u64 count;
	u64 value;		    /* sum */
	u64 estimates;		    /* events whose value is an estimate (sampled.h) */
	struct distribution values; /* empty without EVENTS_WITH_VALUES */
};

struct event_counts {
	struct event_count *items;
	u32 count;
	char (*comms)[16]; /* "": unknown task */
	u64 first, last;   /* time of the first and last event, ns */
	u64 events;
};

/* `split`: enum event_split, as bits. `slices` may be NULL. All zero on failure. -ENODATA:
 * EVENTS_WITH_VALUES, and the recording has sums of events. */
int event_counts_read(struct event_counts *counts, struct trace_reader *reader,
		      struct event_paths *paths, const struct event_filter *filter, u32 split,
		      const struct time_slices *slices, struct stackmap_error *error);
void event_counts_free(struct event_counts *counts);

#endif
