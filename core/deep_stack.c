/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring is rotated by three reversals: of the frames before the oldest frame, of the frames from
 * the oldest frame to the end of the ring, and of the whole ring.
 */
#include "deep_stack.h"

struct reversal {
	struct deep_stack *stack;
	u32 first, last;
};

static long swap_mirrored_frames(u32 i, void *arg)
{
	struct reversal *reversal = arg;
	u32 low = reversal->first + i, high = reversal->last - i;
	u64 *frame = reversal->stack->frame, kept;

	if ((s32)low >= (s32)high)
		return 1;
	core_one_register(low);
	core_one_register(high);
	kept = frame[low & (STACK_WORDS_MAX - 1)];
	frame[low & (STACK_WORDS_MAX - 1)] = frame[high & (STACK_WORDS_MAX - 1)];
	frame[high & (STACK_WORDS_MAX - 1)] = kept;
	return 0;
}

CORE_PART void reverse_frames(struct deep_stack *stack, u32 from, u32 to)
{
	struct reversal reversal = {.stack = stack, .first = from, .last = to - 1};

	core_loop(DEEP_OUTER / 2, swap_mirrored_frames, &reversal);
}

CORE_GLOBAL int deep_stack_order_frames(struct deep_stack *stack, u32 depth)
{
	u32 oldest;

	if (core_is_null(stack) || depth <= STACK_USER_DEPTH_MAX)
		return depth;
	oldest = deep_stack_slot(depth);
	reverse_frames(stack, DEEP_RING, oldest);
	reverse_frames(stack, oldest, STACK_USER_DEPTH_MAX);
	reverse_frames(stack, DEEP_RING, STACK_USER_DEPTH_MAX);
	stack->frame[DEEP_INNER] = FRAME_OMITTED(depth - DEEP_INNER - DEEP_OUTER);
	return STACK_USER_DEPTH_MAX;
}
