/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packing halves what is hashed, compared and stored of a kernel stack on x86-64. In place: word i
 * of a narrow stack is written after frames 2i and 2i + 1 were read.
 */
#include "stack_pack.h"

static inline __attribute__((always_inline)) u32 is_narrow(const struct stack *stack, u32 depth)
{
	u64 common = ~0ULL;

	for_each_bounded(i, depth, STACK_WORDS_MAX) common &= stack->word[i];
	return (common & FRAME_NARROW_TOP) == FRAME_NARROW_TOP;
}

static inline __attribute__((always_inline)) void join_halves(struct stack *stack, u32 depth)
{
	for_each_bounded(i, depth / 2, STACK_WORDS_MAX / 2) stack->word[i] =
		(u32)stack->word[2 * i] | stack->word[2 * i + 1] << 32;
	if (depth % 2 && depth < STACK_WORDS_MAX)
		stack->word[depth / 2] = (u32)stack->word[depth - 1];
}

CORE_GLOBAL u32 stack_pack(struct stack *stack)
{
	u32 depth;

	if (core_is_null(stack))
		return 0;
	depth = stack->depth;
	stack->words = 0;
	if (depth == 0 || depth > STACK_WORDS_MAX)
		return 0;
	stack->flags &= ~STACK_NARROW;
	if (is_narrow(stack, depth)) {
		join_halves(stack, depth);
		stack->flags |= STACK_NARROW;
	}
	stack->words = stack_words(depth, stack->flags);
	return stack->words;
}
