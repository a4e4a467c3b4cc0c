/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One round of a drain: moves the contents of the rings to the writer. A round never waits for
 * another process: facts about files and processes come from workers (scripts/check-layers). Errors
 * are those of the writer and -ENOMEM; an error does not end the reading. */
#ifndef LIB_CAPTURE_DRAIN_H
#define LIB_CAPTURE_DRAIN_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"

struct stack_ref;

/* Runs a whole round. *next_ms, unless NULL: the time until the next round is due, in ms
 * (capture/drain/pace.h). */
int recording_drain(struct recording *recording, int *next_ms);

/* The first half of a round: sets cpus[].end, the position up to which this round reads each ring,
 * and joins the deferred stacks before this position to the events that wait for them. Adds the
 * fill of the rings to *rings. */
int drain_deferred_stacks(struct recording *recording, struct pace_rings *rings);

/* The reader's part in a reset (capture/instance/reset.h), before the rings are read: if a reset
 * has swapped the tables of the stack map, the function stores the ring positions up to which
 * records may name stacks of the previous generation. */
void generation_note_ring_heads_at_swap(struct recording *recording);

/* The functions records_...() convert the records of a ring to events of the file, one by one.
 * Errors are those of the writer and -ENOMEM. */

/* Called before the rings are read, at the begin of a round; sets recording->time_limit, the latest
 * possible time of an event. */
void records_set_time_limit_of_round(struct recording *recording);

/* A function that converts the record at `position` of a ring. */
typedef int (*take_record)(struct recording *recording, const struct ring_view *ring, u64 position,
			   u32 cpu);

/*
 * Sets an event's two stacks from the two stack fields of a ring slot, or of a row of counted
 * events, and writes what the event refers to: its stacks, the mapping of its leaf, the name of its
 * thread. All other members of `event` are set before the call. `ring` and `position` name the
 * slot, since a stack may be stored in the slots that follow it; ring NULL: no stack is stored so.
 * On failure the event has no stacks.
 */
struct stack_fields {
	u32 flags; /* flags of the event's stamp */
	u32 kernel, user;
};

int records_fill_stacks(struct recording *recording, const struct ring_view *ring, u64 position,
			const struct stack_fields *fields, struct trace_event *event,
			struct stack_ref *user);

/* Convert a record to what the file has: the first function takes a record of an event ring and
 * writes an event, the second one takes a record of a task ring and writes the name of a task. */
int records_take_event(struct recording *recording, const struct ring_view *ring, u64 position,
		       u32 cpu);
int records_take_task(struct recording *recording, const struct ring_view *ring, u64 position,
		      u32 cpu);
/* Joins a deferred stack to the events that wait for it; other records are ignored. */
int records_take_deferred_stack(struct recording *recording, const struct ring_view *ring,
				u64 position, u32 cpu);

/* Counts, for the ledger, the stacks that an event lacks and the stop reason of its user stack, and
 * reports user stacks that end in code without rules to the symbolizers. */
void records_count_stacks(struct recording *recording, const struct trace_event *event,
			  const struct stack_ref *user);

/* Calls take() for all committed records from `position` up to `end`. Returns the first error. */
int records_take_range(struct recording *recording, const struct ring_view *ring, u64 position,
		       u64 end, u32 cpu, take_record take);

#endif
