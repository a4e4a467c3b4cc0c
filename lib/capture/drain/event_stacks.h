/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what a slot says of a stack to a stack of the file. A stack goes into the file when it is
 * first asked for, after the mappings that its frames lie in.
 *
 * Errors are the writer's, and -ENOMEM; a stack that is not there any more is no error, but a
 * reason.
 */
#ifndef LIB_CAPTURE_EVENT_STACKS_H
#define LIB_CAPTURE_EVENT_STACKS_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"

/* A stack field of the event at `position`: `state` is its enum stack_state, not a cookie. */
int event_stack(struct recording *recording, const struct ring_view *ring, u64 position, u32 state,
		u32 field, struct stack_ref *ref);

/* The deferred stack at `position`. */
int event_stack_of_slot(const struct loaded *loaded, const struct ring_view *ring, u64 position,
			struct deferred_stack *deferred);

/* One whose stack is of this generation of the map, or of one before, gets its frames, which
 * it needs no map for. -ENOMEM. */
int event_stack_keep(const struct loaded *loaded, u64 generation, struct deferred_stack *deferred);

/* The stack in the form that an event needs. */
int event_stack_deferred(struct recording *recording, struct deferred_stack *deferred,
			 enum deferred_form form, struct stack_ref *ref);

/* The mapping of a frame that stands alone. */
int event_stack_mapping(struct recording *recording, u64 frame);

#endif
