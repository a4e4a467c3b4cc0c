/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hottest stacks: all events of a recording with the same source, comm and labels of frames are
 * one row. Frames count by label (function), because nearly every sampled pc is unique. On demand,
 * rows are split further.
 *
 * The sum of all rows' counts is the number of events that passed the filter.
 */
#ifndef LIB_REPORT_PROFILE_H
#define LIB_REPORT_PROFILE_H

#include "report/event/event_counts.h"
#include "report/name/frame_names.h"

#define PROFILE_NO_LABEL UINT32_MAX

struct profile_row {
	u32 kind;
	char comm[16];
	u32 pid, tid, cpu; /* 0: rows are not split by it, or it is unknown */
	u32 cgroup;	   /* a label, if rows are split by it */
	u32 trace, span;   /* labels likewise, or PROFILE_NO_LABEL: the events have none */
	u32 slice;	   /* of time; 0: rows are not split by it */
	const struct profile_path *kernel;
	const struct profile_path *user;
	u64 count;
	u64 value;
	u64 estimates;		    /* events whose value is an estimate (report/event/sampled.h) */
	struct distribution values; /* empty without EVENTS_WITH_VALUES */
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
	u32 split;	 /* enum event_split, as bits */
	u64 count;	 /* events of all rows */
	u64 first, last; /* time of the first and last event, ns; 0: unknown */
	u32 row_count;
	struct profile_row **rows; /* hottest first; equal ones in a fixed order */
	struct profile_row *storage;
};

int profile_create(struct trace_reader *reader, const struct event_filter *filter,
		   const struct frame_naming *naming, struct profile **out,
		   struct stackmap_error *error);
/* `split`: enum event_split, as bits. `slices`: rows are also split by these; or NULL. */
int profile_create_split(struct trace_reader *reader, const struct event_filter *filter,
			 const struct frame_naming *naming, u32 split,
			 const struct time_slices *slices, struct profile **out,
			 struct stackmap_error *error);
void profile_free(struct profile **profile);

/* Sorts the rows by their share of the total of their source, hottest first; `by` is the weight,
 * and `totals` the total weight of each source. */
void profile_sort(struct profile *profile, const enum profile_weight *by, const u64 *totals);

/* The marker of a path that is cut, or NULL. */
const char *profile_path_marker(const struct profile_path *path);

/* The weights of the events of each source of a profile, and their sums; arrays by source. Weights
 * of two sources do not add up: one may be in ns, the other in events. */
struct profile_weights {
	enum profile_weight *by;
	u64 *totals;	/* weight of the source's events */
	u64 *estimates; /* events of the source whose value is an estimate (report/event/sampled.h)
			 */
	u64 *counts;	/* the source's events */
};

/* `by`: "count", "value", or NULL: by value where that has a unit. A source without values weighs
 * by count in any case. Sorts the profile by it. 0 or -ENOMEM. */
int profile_weigh(struct profile *profile, const struct trace_source *sources, u32 source_count,
		  const char *by, struct profile_weights *weights);
void profile_weights_clear(struct profile_weights *weights);

/*
 * The stack of a row as one list of labels, the same for every view, so that their sums agree:
 * kernel frames innermost, user frames around them. A marker, "[no_rule]", stands at the outer end
 * of a side that is cut, and for a stack without any frame.
 */
struct whole_stack {
	u32 *labels; /* innermost first */
	u32 depth;   /* never 0 */
	u32 room;
};

/* *stack is all zero at first and is reused for the next row. -ENOMEM. */
int whole_stack_set(struct whole_stack *stack, const struct profile *profile,
		    const struct profile_row *row);
void whole_stack_free(struct whole_stack *stack);

#endif
