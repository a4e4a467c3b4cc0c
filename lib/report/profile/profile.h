/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hottest stacks: all events of a recording with the same source, comm and labels of frames are
 * one row. Frames are compared by label (function), because nearly every sampled pc is unique. On
 * demand, rows are split further, by process or CPU for example.
 *
 * The sum of all rows' counts is the number of events that passed the filter.
 */
#ifndef LIB_REPORT_PROFILE_H
#define LIB_REPORT_PROFILE_H

#include "report/event/distribution.h"
#include "report/event/event_filter.h"
#include "report/event/event_paths.h"
#include "report/name/frame_names.h"
#include "trace/event.h"

/*
 * Counts of each combination of source, task name, stacks and leaf in a recording. This is the one
 * pass over all events; reports work on the combinations. Combinations are those of the file, so
 * several may become equal when their frames are symbolized.
 *
 *    sum of all counts = number of events that pass the filter
 */

/* What events are counted by, besides source, task name, stacks and leaf. */
enum event_split {
	EVENTS_BY_PID = 1 << 0,
	EVENTS_BY_TID = 1 << 1,
	EVENTS_BY_CPU = 1 << 2,
	EVENTS_BY_CGROUP = 1 << 3,
	EVENTS_BY_TRACE = 1 << 5,
	EVENTS_BY_SPAN = 1 << 6,
	EVENTS_BY_ATTRIBUTES = 1 << 7, /* by what the events' attributes come from */
	/* each event_count also has the distribution of its events' values, which is not part of
	   the key */
	EVENTS_WITH_VALUES = 1 << 4,
};

/* Slices of equal length of a recording's time. Each event is in one slice: an event before the
 * first slice is in the first, an event after the last slice is in the last. */
struct time_slices {
	u64 begin, length; /* begin of the first slice, and length of each slice, ns */
	u32 count;	   /* less than 2^16; 0: time is not divided into slices */
};

static inline u32 find_time_slice(const struct time_slices *slices, u64 time)
{
	u64 slice;

	if (!slices->count || time <= slices->begin)
		return 0;
	slice = (time - slices->begin) / slices->length;
	return slice < slices->count ? (u32)slice : slices->count - 1;
}

/* The struct has no padding, because keys are compared as bytes. */
struct event_key {
	u32 kernel; /* stack index of the kernel stack, or TRACE_NO_STACK */
	u32 user;
	u32 leaf; /* key of the leaf from event_paths_leaf_key(), or PATH_NO_LEAF */
	u32 comm; /* index of the task's name in event_counts.comms */
	u16 kind : 15;
	u16 leaf_in_kernel : 1;
	u8 kernel_reason; /* why the kernel stack is missing (enum stack_reason); 0 with a stack */
	u8 user_reason;
	u16 cpu;   /* number of the CPU, as in a block of the file; 0: also not part of the key */
	u16 slice; /* number of the time slice */
	u32 pid, tid; /* ids of process and thread; 0: unknown, or not part of the key */
	u32 cgroup;   /* number of the cgroup; 0: unknown, or not part of the key */
	u32 context;  /* number of the trace and span, from 1 on; 0: not part of the key, or none */
	struct attribute_numbers attributes; /* all 0: not part of the key, or none */
};

struct event_count {
	struct event_key key;
	u64 count;
	u64 value;     /* sum of the events' values */
	u64 estimates; /* events whose value is an estimate (estimate_error_of_sampled_sum()) */
	struct distribution values; /* values of the events; empty without EVENTS_WITH_VALUES */
};

struct event_counts {
	struct event_count *items;
	u32 count;
	char (*comms)[16]; /* names of tasks; "": unknown task */
	u64 first, last;   /* time of the first and last event, ns */
	u64 events;
};

/* `split`: enum event_split, as bits. `slices` may be NULL. All zero on failure. -ENODATA:
 * EVENTS_WITH_VALUES, and the recording has sums of events. */
int event_counts_read(struct event_counts *counts, struct trace_reader *reader,
		      struct event_paths *paths, const struct event_filter *filter, u32 split,
		      const struct time_slices *slices, struct stackmap_error *error);
void event_counts_free(struct event_counts *counts);

/*
 * Events that are a sample by value (abi/question.h), such as those of `record --leaks-every`. The
 * sum of the sample's values estimates the sum of all events' values.
 *
 * An event of value v less than `every` is taken into the sample with the probability p = v /
 * every, and its value counts as `every`. The variance that the event adds to the sum is v * every
 * - v^2, which is less than p * every^2. The number of events that count as `every`, times every^2,
 * is therefore an estimate of an upper bound of the sum's variance. An event of a larger value is
 * always taken and adds no variance.
 */

/* The number `every` in a source's name; 0: the source's events are not a sample. */
u64 read_sampling_period_of_source(const char *name);

/* The number of events of `event` whose value is an estimate: all if the event stands for several.
 */
static inline u64 count_estimated_events(u64 every, const struct trace_event *event)
{
	u64 events = event_stands_for(event);

	return every && (events > 1 || event->value == every) ? events : 0;
}

/* The standard error of a sum of `estimates` estimates, rounded up. */
u64 estimate_error_of_sampled_sum(u64 every, u64 estimates);

#define PROFILE_NO_LABEL UINT32_MAX

struct profile_row {
	u32 kind;
	char comm[16];
	u32 pid, tid,
		cpu; /* ids of process, thread and CPU; 0: unknown, or rows are not split by it */
	u32 cgroup;  /* label id of the cgroup's path, if rows are split by cgroups */
	u32 trace, span; /* label ids, or PROFILE_NO_LABEL: the events have no trace or span */
	struct attribute_numbers attributes; /* all 0: none, or rows are not split by them */
	u32 slice;			     /* time slice; 0: rows are not split by time */
	const struct profile_path *kernel;
	const struct profile_path *user;
	u64 count;
	u64 value;
	u64 estimates; /* events whose value is an estimate (estimate_error_of_sampled_sum()) */
	struct distribution values; /* values of the events; empty without EVENTS_WITH_VALUES */
};

/* The weight of a row: the number of its events, or the sum of their values. */
enum profile_weight { WEIGHT_COUNT, WEIGHT_VALUE };

static inline u64 profile_row_weight(const struct profile_row *row, enum profile_weight by)
{
	return by == WEIGHT_VALUE ? row->value : row->count;
}

struct profile {
	struct frame_names *names;
	struct event_paths *paths;
	u32 split;	 /* what rows are split by: enum event_split, as bits */
	u64 count;	 /* number of events of all rows */
	u64 first, last; /* time of the first and last event, ns; 0: unknown */
	u32 row_count;
	/* rows of most weight first; rows of equal weight in a fixed order */
	struct profile_row **rows;
	struct profile_row *storage;
};

int profile_create(struct trace_reader *reader, const struct event_filter *filter,
		   const struct frame_naming *naming, struct profile **out,
		   struct stackmap_error *error);
/* `split`: enum event_split, as bits. `slices`: rows are also split by time slice; or NULL. */
int profile_create_split(struct trace_reader *reader, const struct event_filter *filter,
			 const struct frame_naming *naming, u32 split,
			 const struct time_slices *slices, struct profile **out,
			 struct stackmap_error *error);
void profile_free(struct profile **profile);

/* The marker of a path without its outer frames, or NULL if the path is complete. */
const char *profile_path_marker(const struct profile_path *path);

/* The weights of the events of each source of a profile, and their sums; arrays by source. Weights
 * of two sources do not add up: one may be in ns, the other in events. */
struct profile_weights {
	enum profile_weight *by;
	u64 *totals;	/* weight of the source's events */
	u64 *estimates; /* number of the source's events whose value is an estimate
			 * (estimate_error_of_sampled_sum())
			 */
	u64 *counts;	/* number of the source's events */
};

/* Chooses the weight of each source and sorts the rows of the profile by weight. `by`: "count",
 * "value", or NULL: by value where the value has a unit. A source without values weighs by count in
 * any case. 0 or -ENOMEM. */
int profile_weigh(struct profile *profile, const struct trace_source *sources, u32 source_count,
		  const char *by, struct profile_weights *weights);
void profile_weights_clear(struct profile_weights *weights);

/*
 * The stack of a row as one list of labels, the same for every view, so that their sums agree:
 * kernel frames innermost, user frames around them. A marker, "[no_rule]", stands at the outer end
 * of a side that is cut, and for a stack without any frame.
 */
struct whole_stack {
	u32 *labels; /* ids of labels, innermost first */
	u32 depth;   /* number of labels; never 0 */
	u32 room;
};

/* Sets *stack to the stack of the row. The caller sets *stack to zeros before the first row; its
 * memory is reused for the next row. -ENOMEM. */
int whole_stack_set_labels_of_row(struct whole_stack *stack, const struct profile *profile,
				  const struct profile_row *row);
void whole_stack_free(struct whole_stack *stack);

#endif
