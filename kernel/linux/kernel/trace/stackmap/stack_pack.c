// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packing halves the bytes of a kernel stack that are hashed, compared and
 * stored on x86-64. It works in place: word i of a narrow stack is written
 * after frames 2i and 2i + 1 were read. The last word of an odd stack holds one
 * frame.
 */

#include "stack_pack.h"

static bool is_narrow(const struct stackid_stack *stack)
{
	u64 common = STACKID_FRAME_NARROW_TOP;
	u32 depth = stack->depth;

	for (u32 i = 0; i < depth; i++)
		common &= stack->word[i];
	return common == STACKID_FRAME_NARROW_TOP;
}

/* Joins pairs of frames into words. */
static void join_halves(struct stackid_stack *stack)
{
	u32 depth = stack->depth, pairs = depth / 2;
	u64 *word = stack->word;

	for (u32 i = 0; i < pairs; i++)
		word[i] = (u32)word[2 * i] | word[2 * i + 1] << 32;
	if (depth % 2)
		word[pairs] = (u32)word[2 * pairs];
}

u32 stackid_pack(struct stackid_stack *stack)
{
	u32 depth = stack->depth;

	stack->words = 0;
	if (depth == 0 || depth > STACKID_DEPTH_MAX)
		return 0;
	stack->flags &= ~STACKID_NARROW;
	if (is_narrow(stack)) {
		join_halves(stack);
		stack->flags |= STACKID_NARROW;
	}
	stack->words = stackid_words(stack->depth, stack->flags);
	return stack->words;
}
