/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of events of one CPU. An event is split into its key (thread, kind, both stacks: few
 * distinct ones, and one follows another in patterns) and its numbers (time, leaf, value; in a
 * summary also the number of equal events). The keys go into a dictionary; an event's key is coded
 * as one of the recent successors of the key before. Times are differences to the event before,
 * leaves and values to the last one of the same key.
 */
#ifndef LIB_TRACE_EVENT_BLOCK_H
#define LIB_TRACE_EVENT_BLOCK_H

#include "trace/block/block.h"
#include "trace/block/resolution_block.h"
#include "trace/event.h"

struct event_encoder;

/* Only events of a summary, and those that are counted only, stand for many. */
static inline u32 event_block_columns(bool has_repeats)
{
	return has_repeats ? EVENT_COLUMNS_SUMMARY : EVENT_COLUMNS;
}

int event_encoder_create(struct event_encoder **out);
void event_encoder_free(struct event_encoder **encoder);

/* Sorts the events by time and encodes them: 1 to TRACE_BLOCK_EVENTS_MAX, all of one CPU. The
 * builder belongs to the encoder and lives until the next call. -EINVAL: an event stands for many
 * without `has_repeats`. */
int event_encoder_run(struct event_encoder *encoder, struct trace_event *events, u32 count,
		      bool has_repeats, const struct block_builder **builder);

/* Limits for the indexes in events, the resolution of stack indexes, and the number of columns of
 * the block. */
struct event_limits {
	u32 columns;
	bool is_counted; /* the events are counted only */
	u32 sources;
	u32 stacks;
	u32 contexts;
	const struct stack_resolution *resolution;
};

/* Fills events[header.records]. -EBADMSG: the block is invalid. */
int event_block_decode(struct block_view *view, const struct event_limits *limits,
		       struct trace_event *events);

#endif
