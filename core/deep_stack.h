/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A user stack that is deeper than STACK_USER_DEPTH_MAX keeps both ends: its innermost frames, a
 * frame that says how many frames are left out (FRAME_OMITTED), and its outermost frames. A walk
 * does not know in advance how deep the stack is. It therefore writes the frames after the
 * innermost ones into a ring, where a new frame overwrites the oldest one. At the end of the walk
 * the ring is rotated so that it begins with its oldest frame.
 */
#ifndef CORE_DEEP_STACK_H
#define CORE_DEEP_STACK_H

#include "env.h"
#include "stack.h"

#define DEEP_INNER 256
#define DEEP_RING (DEEP_INNER + 1) /* first word of the ring; FRAME_OMITTED is right before it */
#define DEEP_OUTER (STACK_USER_DEPTH_MAX - DEEP_RING)

struct deep_stack {
	u64 frame[STACK_WORDS_MAX];
};

/* The word of the frame with this number, counted from the innermost frame, which is 0. */
ABI_INLINE u32 deep_stack_slot(u32 number)
{
	return number < STACK_USER_DEPTH_MAX ? number
					     : DEEP_RING + (number - DEEP_RING) % DEEP_OUTER;
}

/*
 * Ends a walk that has met `depth` frames: rotates the ring so that it begins with its oldest
 * frame, and adds the frame that stands for omitted frames. Returns the number of words of the
 * stack. Any context.
 */
CORE_GLOBAL int deep_stack_order_frames(struct deep_stack *stack, u32 depth);

#endif
