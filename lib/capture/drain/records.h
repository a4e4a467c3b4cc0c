/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts the records of a ring to events of the file, one by one. Errors are those of the writer
 * and -ENOMEM. */
#ifndef LIB_CAPTURE_RECORDS_H
#define LIB_CAPTURE_RECORDS_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"

struct stack_ref;

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
