/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of events of one CPU. An event is split into its key (thread, kind, both stacks) and its
 * numbers (time, leaf, value; in a summary also the number of equal events). There are few distinct
 * keys, and keys follow each other in patterns. The keys go into a dictionary, and the key of an
 * event is coded as one of the recent successors of the previous event's key. A time is coded as
 * the difference to the previous event, a leaf or a value as the difference to that of the last
 * event with the same key.
 */
#ifndef LIB_TRACE_EVENT_BLOCK_H
#define LIB_TRACE_EVENT_BLOCK_H

#include "trace/block/block.h"
#include "trace/block/resolution_block.h"
#include "trace/event.h"

struct event_encoder;

/* The number of columns of a block of events. `has_repeats`: records may stand for many events, in
 * a summary or if events are only counted. */
static inline u32 event_block_columns(bool has_repeats)
{
	return has_repeats ? EVENT_COLUMNS_SUMMARY : EVENT_COLUMNS;
}

int event_encoder_create(struct event_encoder **out);
void event_encoder_free(struct event_encoder **encoder);

/* Sorts the events by time and encodes them: 1 to TRACE_BLOCK_EVENTS_MAX, all of one CPU. The
 * builder belongs to the encoder and is valid until the next call. -EINVAL: a record stands for
 * many events without `has_repeats`. */
int event_encoder_run(struct event_encoder *encoder, struct trace_event *events, u32 count,
		      bool has_repeats, const struct block_builder **builder);

/* What a block of events must comply with: the number of columns, and limits for the indexes in
 * events; and how stack indexes are resolved. */
struct event_limits {
	u32 columns;
	bool is_counted; /* true: the events of the block are only counted */
	u32 sources;
	u32 stacks;
	u32 contexts;
	const struct stack_resolution *resolution;
};

/* Fills events[header.records]. -EBADMSG: the block is invalid. */
int event_block_decode(struct block_view *view, const struct event_limits *limits,
		       struct trace_event *events);

#endif
