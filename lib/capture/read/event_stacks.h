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

#include "capture/read/answer_join.h"
#include "capture/read/recording.h"

/* A stack field of the event at `position`: `state` is its enum stack_state, not a cookie. */
int event_stack(struct recording *recording, const struct ring_view *ring, u64 position, u32 state,
		u32 field, struct stack_name *name);

/* What the delivery at `position` says. */
int event_stack_delivered(struct loaded *loaded, const struct ring_view *ring, u64 position,
			  struct user_answer *answer);

/* An answer whose stack is of this generation of the map, or of one before, gets its frames, which
 * it needs no map for. -ENOMEM. */
int event_stack_keep(const struct loaded *loaded, u64 generation, struct user_answer *answer);

/* The answer in the form that an event needs. */
int event_stack_answered(struct recording *recording, struct user_answer *answer,
			 enum answer_form form, struct stack_name *name);

/* The mapping of a frame that stands alone. */
int event_stack_mapping(struct recording *recording, u64 frame);

#endif
