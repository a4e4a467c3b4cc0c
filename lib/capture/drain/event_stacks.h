/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts a stack field of a ring slot to a stack of the file. A stack is written when the first
 * event refers to it; the mappings of its frames are written before it.
 *
 * Errors are those of the writer and -ENOMEM. A stack that does not exist any more is not an error:
 * the event gets the reason instead of a stack.
 */
#ifndef LIB_CAPTURE_EVENT_STACKS_H
#define LIB_CAPTURE_EVENT_STACKS_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"

/* Converts a stack field of the event at `position` of a ring to a stack of the file. `state`: enum
 * stack_state, except STATE_COOKIE. */
int event_stack_write_from_field(struct recording *recording, const struct ring_view *ring,
				 u64 position, u32 state, u32 field, struct stack_ref *ref);

/* Reads the record of a deferred stack at `position` of a ring. */
int event_stack_read_deferred(const struct loaded *loaded, const struct ring_view *ring,
			      u64 position, struct deferred_stack *deferred);

/* Copies the frames of a deferred stack out of the stack map, if the stack is in the table of
 * `generation` or of an older generation. -ENOMEM. */
int event_stack_copy_frames_from_stack_map(const struct loaded *loaded, u64 generation,
					   struct deferred_stack *deferred);

/* Returns the mapping of the code that had no unwind rule: the mapping of the last frame before the
 * first guess, or of the last frame of a stack that ends early. VAIN_LEAF: the code without a rule
 * is that of the leaf, which `stack` does not have. 0: all code had rules. */
u32 event_stack_mapping_without_rules(const struct trace_stack *stack, u8 stop);

/* Writes a deferred stack, with or without its leaf, as the event needs it. */
int event_stack_write_deferred(struct recording *recording, struct deferred_stack *deferred,
			       enum deferred_form form, struct stack_ref *ref);

/* Writes the mapping of a frame, unless the frame has none or the file has the mapping. */
int event_stack_write_mapping(struct recording *recording, u64 frame);

#endif
