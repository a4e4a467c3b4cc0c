/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what a slot says of a stack to a stack of the file. A stack goes into the file when it is
 * first asked for, after the mappings that its frames lie in.
 *
 * Errors are the writer's, and -ENOMEM; a stack that is not there any more is no error, but a name
 * with a reason.
 */
#ifndef LIB_CAPTURE_EVENT_STACKS_H
#define LIB_CAPTURE_EVENT_STACKS_H

#include "capture/instance.h"
#include "capture/read/answer_join.h"

/* A stack field of the event at `position`: `state` is its enum stack_state, not a cookie. */
int event_stack(struct capture *capture, struct trace_writer *writer, const struct ring_view *ring,
		u64 position, u32 state, u32 field, struct stack_name *name);

/* What the delivery at `position` says. */
int event_stack_delivered(struct capture *capture, const struct ring_view *ring, u64 position,
			  struct user_answer *answer);

/* An answer whose stack is of this generation of the map, or of one before, gets its frames, which
 * it needs no map for. -ENOMEM. */
int event_stack_keep(const struct capture *capture, u64 generation, struct user_answer *answer);

/* The answer in the form that an event needs. */
int event_stack_answered(struct capture *capture, struct trace_writer *writer,
			 struct user_answer *answer, enum answer_form form,
			 struct stack_name *name);

/*
 * Puts a stack that user space has found into the stack map, as programs do: its id, or 0 if the
 * map refuses it. There is a line of counters for this, behind those of the CPUs. One thread.
 */
u32 event_stack_id(struct capture *capture, const u64 *frames, u32 depth, u32 flags);

/* The id of such a stack if it is in the map; 0: it is not. */
u32 event_stack_known(struct capture *capture, const u64 *frames, u32 depth, u32 flags);

/* The mapping of a frame that stands alone. */
int event_stack_mapping(struct capture *capture, struct trace_writer *writer, u64 frame);

#endif
