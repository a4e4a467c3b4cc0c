/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One round of a drain: moves the contents of the rings to the writer. A round never waits for
 * another process: facts about files and processes come from workers (scripts/check-layers). Errors
 * are those of the writer and -ENOMEM; an error does not end the reading. */
#ifndef LIB_CAPTURE_DRAIN_H
#define LIB_CAPTURE_DRAIN_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"

struct stack_ref;

/* Moves the contents of the rings to the writer. *next_ms, unless NULL: time until the next visit,
 * in ms (capture/drain/pace.h). */
int recording_drain(struct recording *recording, int *next_ms);

/* The first half of a round: joins deferred stacks to the events that wait for them, up to
 * cpus[].end. Adds the contents of the rings to *rings. */
int drain_deferred_stacks(struct recording *recording, struct pace_rings *rings);

/* The reader's part in a reset (capture/instance/reset.h), before reading: notes up to where the
 * rings may name stacks of the previous generation. */
void generation_peek(struct recording *recording);

/* Converts the records of a ring to events of the file, one by one. Errors are those of the writer
 * and -ENOMEM. */

/* Called before the rings are read; sets the latest possible stamp. */
void records_begin_round(struct recording *recording);

/* Takes the record at `position`. */
typedef int (*take_record)(struct recording *recording, const struct ring_view *ring, u64 position,
			   u32 cpu);

/*
 * Fills an event's stacks from the two fields of a slot or of a row, and writes what the event
 * needs to be read: its stacks, the mapping of its leaf, the name of its thread. `event` has all
 * but the stacks. `ring` and `position`: of the slot, for stacks that follow it; NULL: there are
 * none. On failure the event names no stack.
 */
struct stack_fields {
	u32 flags; /* of the stamp */
	u32 kernel, user;
};

int records_fill(struct recording *recording, const struct ring_view *ring, u64 position,
		 const struct stack_fields *fields, struct trace_event *event,
		 struct stack_ref *user);

/* Write an event, or the name of a task. */
int records_take_event(struct recording *recording, const struct ring_view *ring, u64 position,
		       u32 cpu);
int records_take_task(struct recording *recording, const struct ring_view *ring, u64 position,
		      u32 cpu);
/* Joins a deferred stack to the events that wait for it; ignores other records. */
int records_take_deferred_stack(struct recording *recording, const struct ring_view *ring,
				u64 position, u32 cpu);

/* Counts the stacks that an event of the file lacks, and those that end in code without rules. */
void records_note_stacks(struct recording *recording, const struct trace_event *event,
			 const struct stack_ref *user);

/* Takes all records from `position` up to `end`. Returns the first error. */
int records_each(struct recording *recording, const struct ring_view *ring, u64 position, u64 end,
		 u32 cpu, take_record take);

#endif
