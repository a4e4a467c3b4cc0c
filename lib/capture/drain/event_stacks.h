/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts a stack field of a slot to a stack of the file. A stack is written when it is first
 * needed, after the mappings of its frames.
 *
 * Errors are those of the writer and -ENOMEM. A stack that does not exist any more is not an error:
 * the event gets the reason instead.
 */
#ifndef LIB_CAPTURE_EVENT_STACKS_H
#define LIB_CAPTURE_EVENT_STACKS_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"

/* Converts a stack field of the event at `position`. `state`: enum stack_state, except the state of
 * a cookie. */
int event_stack(struct recording *recording, const struct ring_view *ring, u64 position, u32 state,
		u32 field, struct stack_ref *ref);

/* Reads the deferred stack at `position`. */
int event_stack_of_slot(const struct loaded *loaded, const struct ring_view *ring, u64 position,
			struct deferred_stack *deferred);

/* Copies the frames of a deferred stack that is in this generation of the map or in an older one.
 * -ENOMEM. */
int event_stack_keep(const struct loaded *loaded, u64 generation, struct deferred_stack *deferred);

/* The mapping of the code that had no rule: the mapping of the frame before the first guess, or of
 * the last frame of a stack that ends early. VAIN_LEAF: the code of the leaf, which is apart; 0:
 * all code had rules. */
u32 event_stack_vain(const struct trace_stack *stack, u8 stop);

/* Writes a deferred stack in the form that an event needs. */
int event_stack_deferred(struct recording *recording, struct deferred_stack *deferred,
			 enum deferred_form form, struct stack_ref *ref);

/* Writes the mapping of a single frame. */
int event_stack_mapping(struct recording *recording, u64 frame);

#endif
