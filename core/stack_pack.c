/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packing halves the bytes of a kernel stack that are hashed, compared and stored on x86-64. It
 * works in place: word i of a narrow stack is written after frames 2i and 2i + 1 were read. The
 * last word of an odd stack holds one frame.
 */
#include "stack_pack.h"

#include "word_chunk.h"

struct frames {
	struct stack *stack;
	u64 common;
};

CORE_PART void common_words(struct frames *frames, u32 at, u32 count)
{
	const u64 *word = &frames->stack->word[at];
	u64 common = word[0];

	for (u32 i = 1; i < count; i++)
		common &= word[i];
	frames->common &= common;
}

static long common_chunk(u32 i, void *arg)
{
	struct frames *frames = arg;
	u32 first = word_chunk_begin(i);

	if (first >= STACK_WORDS_MAX)
		return 1;
	common_words(frames, first, WORD_CHUNK);
	return frames->common != FRAME_NARROW_TOP;
}

CORE_PART int is_narrow(struct stack *stack)
{
	struct frames frames = {.stack = stack, .common = FRAME_NARROW_TOP};
	u32 depth = stack->depth;

	words_each(depth, common_chunk, common_words, &frames);
	return frames.common == FRAME_NARROW_TOP;
}

/* Joins pairs of frames into words. */
CORE_PART void join_words(struct frames *frames, u32 at, u32 count)
{
	u64 *to = &frames->stack->word[at];
	const u64 *from;

	if (at > STACK_WORDS_MAX / 2 - count)
		return;
	from = &frames->stack->word[2 * at];
	for (u32 i = 0; i < count; i++)
		to[i] = (u32)from[2 * i] | from[2 * i + 1] << 32;
}

static long join_chunk(u32 i, void *arg)
{
	u32 first = word_chunk_begin(i);

	if (first >= STACK_WORDS_MAX)
		return 1;
	join_words(arg, first, WORD_CHUNK);
	return 0;
}

/* Writes the last word of an odd stack. */
CORE_PART void join_last(struct stack *stack, u32 i)
{
	core_one_register(i);
	if (i < STACK_WORDS_MAX / 2)
		stack->word[i] = (u32)stack->word[2 * i];
}

CORE_PART void join_halves(struct stack *stack)
{
	struct frames frames = {.stack = stack};
	u32 depth = core_reload(stack->depth), pairs = depth / 2;

	words_each(pairs, join_chunk, join_words, &frames);
	if (core_reload(stack->depth) % 2)
		join_last(stack, core_reload(stack->depth) / 2);
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
	stack->flags &= ~STACK_NARROW;
	if (is_narrow(stack)) {
		join_halves(stack);
		stack->flags |= STACK_NARROW;
	}
	stack->words = stack_words(core_reload(stack->depth), stack->flags);
	return stack->words;
}
