/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins an event with its origin: one in queued work with the task that has queued the work
 * (TRACE_ORIGIN, record --origins), or the end of a span with the span's begin (record,
 * stack=both). The origin is a second event with the stacks of that task. Both events have the same
 * time and CPU, and nothing else joins them. Two origins of the same time and CPU stay without an
 * event. The end of a span whose begin is known has no other origin.
 */
#ifndef LIB_REPORT_ORIGINS_H
#define LIB_REPORT_ORIGINS_H

#include "report/event/event_filter.h"
#include "wait_ends.h"

struct origins;

/* Reads all events if the recording has origins. -ENOMEM. */
int origins_create(struct trace_reader *reader, struct origins **out);
void origins_free(struct origins **origins);

/* True for the begin of a span, false for the task that has queued work. */
bool origins_is_begin(const struct origins *origins, const struct trace_event *origin);

/* The origin of an event; NULL: not known, or the event is an origin itself. */
const struct trace_event *origins_find(const struct origins *origins,
				       const struct trace_event *event);

/*
 * Events with equal stacks of the work and of its origin. A timer's callback interrupts any task,
 * so the stack of its work ends at the kernel function that calls the callback.
 */
struct origin_row {
	u32 kind;
	bool is_begin; /* true: the origin of the row's events is the begin of a span; false: the
			  origin is the task that queued the work */
	struct wait_end work, origin;
	u64 count, value;
	u64 longest; /* longest time from the origin to its event, ns */
};

struct origin_table {
	const struct origin_row **rows; /* rows, sorted by their share of the weight of their kind
					   of event, greatest first */
	u32 count;
	u64 events;   /* number of events with an origin */
	u64 *weights; /* by kind of event: sum of the rows' weights */
};

/* Makes the table of the events that pass the filter. -ENODATA: the recording has no origins;
 * -ENOMEM. */
int origin_table_create(struct trace_reader *reader, const struct event_filter *filter,
			struct frame_names *names, struct event_paths *paths,
			struct origin_table **out);
void origin_table_free(struct origin_table **table);

/* The weight of a row: the sum of its events' values if the values have a unit, else the number of
 * its events. */
u64 origin_row_weight(const struct origin_table *table, const struct origin_row *row);

#endif
