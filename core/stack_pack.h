/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion of raw frames to the words that the stack map compares and stores (abi/stack.h), and
 * back.
 */
#ifndef CORE_STACK_PACK_H
#define CORE_STACK_PACK_H

#include "env.h"
#include "stack.h"

/*
 * Packs in place. In: word[0 .. depth - 1] = raw frames, `depth`, and in `flags` STACK_TRUNCATED
 * and STACK_USER. Out: word[0 .. words - 1], `words`, and STACK_NARROW set or clear. Returns
 * `words`: 0 if depth is 0 or above STACK_USER_DEPTH_MAX.
 */
CORE_GLOBAL u32 stack_pack(struct stack *stack);

static inline u32 stack_words(u32 depth, u32 flags)
{
	return flags & STACK_NARROW ? (depth + 1) / 2 : depth;
}

/* Frame i (< depth) of packed words. */
static inline u64 stack_frame(const u64 *word, u32 flags, u32 i)
{
	if (!(flags & STACK_NARROW))
		return word[i];
	return FRAME_NARROW_TOP | (u32)(word[i / 2] >> (i % 2 * 32));
}

#endif
