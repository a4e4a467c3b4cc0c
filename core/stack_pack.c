/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packing halves what is hashed, compared and stored of a kernel stack on x86-64. In place: word i
 * of a narrow stack is written after frames 2i and 2i + 1 were read. Both loops take frames in
 * pairs: an odd stack is given one more, and what is left of it is cleared.
 */
#include "stack_pack.h"

CORE_PART int is_narrow(const struct stack *stack)
{
	u32 depth = core_reload(stack->depth);
	u64 common = FRAME_NARROW_TOP;

	for (u32 i = 0; i < STACK_USER_DEPTH_MAX && i < depth; i += 2)
		common &= stack->word[i] & stack->word[i + 1];
	return common == FRAME_NARROW_TOP;
}

CORE_PART void clear_upper_half(struct stack *stack, u32 i)
{
	core_one_register(i);
	if (i < STACK_WORDS_MAX)
		stack->word[i] = (u32)stack->word[i];
}

CORE_PART void join_halves(struct stack *stack)
{
	u32 depth = core_reload(stack->depth);

	for (u32 i = 0; i < STACK_USER_DEPTH_MAX && i < depth; i += 2)
		stack->word[i / 2] = (u32)stack->word[i] | stack->word[i + 1] << 32;
	if (depth % 2)
		clear_upper_half(stack, depth / 2);
}

CORE_GLOBAL u32 stack_pack(struct stack *stack)
{
	u32 depth;

	if (core_is_null(stack))
		return 0;
	depth = stack->depth;
	stack->words = 0;
	if (depth == 0 || depth > STACK_USER_DEPTH_MAX)
		return 0;
	stack->word[depth] = FRAME_NARROW_TOP;
	stack->flags &= ~STACK_NARROW;
	if (is_narrow(stack)) {
		join_halves(stack);
		stack->flags |= STACK_NARROW;
	}
	stack->words = stack_words(core_reload(stack->depth), stack->flags);
	return stack->words;
}
