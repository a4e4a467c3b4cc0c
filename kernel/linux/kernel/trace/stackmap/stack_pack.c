// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packing halves the bytes of a kernel stack that are hashed, compared and
 * stored on x86-64. It works in place: word i of a narrow stack is written
 * after frames 2i and 2i + 1 were read. The last word of an odd stack holds one
 * frame.
 */

#include "stack_pack.h"

struct frames {
	struct stackid_stack *stack;
	u64 common;
};

static void common_words(struct frames *frames, u32 count)
{
	const u64 *word = frames->stack->word;
	u64 common = word[0];

	for (u32 i = 1; i < count; i++)
		common &= word[i];
	frames->common &= common;
}

static int is_narrow(struct stackid_stack *stack)
{
	struct frames frames = { .stack = stack,
				 .common = STACKID_FRAME_NARROW_TOP };
	u32 depth = stack->depth;

	common_words(&frames, depth);
	return frames.common == STACKID_FRAME_NARROW_TOP;
}

/* Joins pairs of frames into words. */
static void join_words(struct frames *frames, u32 count)
{
	u64 *to = frames->stack->word;
	const u64 *from = frames->stack->word;

	for (u32 i = 0; i < count; i++)
		to[i] = (u32)from[2 * i] | from[2 * i + 1] << 32;
}

/* Writes the last word of an odd stack. */
static void join_last(struct stackid_stack *stack, u32 i)
{
	if (i < STACKID_WORDS_MAX / 2)
		stack->word[i] = (u32)stack->word[2 * i];
}

static void join_halves(struct stackid_stack *stack)
{
	struct frames frames = { .stack = stack };
	u32 depth = stack->depth, pairs = depth / 2;

	join_words(&frames, pairs);
	if (stack->depth % 2)
		join_last(stack, stack->depth / 2);
}

u32 stackid_pack(struct stackid_stack *stack)
{
	u32 depth = stack->depth;

	stack->words = 0;
	if (depth == 0 || depth > STACKID_USER_DEPTH_MAX)
		return 0;
	stack->flags &= ~STACKID_NARROW;
	if (is_narrow(stack)) {
		join_halves(stack);
		stack->flags |= STACKID_NARROW;
	}
	stack->words = stackid_words(stack->depth, stack->flags);
	return stack->words;
}
