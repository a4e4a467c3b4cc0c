/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packing halves what is hashed, compared and stored of a kernel stack on x86-64. In place: word i
 * of a narrow stack is written after frames 2i and 2i + 1 were read.
 */
#include "stack_pack.h"

static inline __attribute__((always_inline)) u32 is_narrow(const struct stack *stack)
{
	u64 common = ~0ULL;
	u32 depth = core_reload(stack->depth);

	for_each_bounded(i, depth, STACK_WORDS_MAX) common &= stack->word[i];
	return (common & FRAME_NARROW_TOP) == FRAME_NARROW_TOP;
}

static inline __attribute__((always_inline)) void join_halves(struct stack *stack)
{
	u32 depth = core_reload(stack->depth), last;

	for_each_bounded(i, depth / 2, STACK_WORDS_MAX / 2) stack->word[i] =
		(u32)stack->word[2 * i] | stack->word[2 * i + 1] << 32;
	last = depth / 2;
	core_one_register(last);
	if (depth % 2 && last < STACK_WORDS_MAX / 2)
		stack->word[last] = (u32)stack->word[2 * last];
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
	if (is_narrow(stack)) {
		join_halves(stack);
		stack->flags |= STACK_NARROW;
	}
	stack->words = stack_words(core_reload(stack->depth), stack->flags);
	return stack->words;
}
