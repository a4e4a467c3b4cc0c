/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion of raw frames to the words that the stack map compares and stores
 * (stack.h), and back.
 */
#ifndef _TRACE_STACKMAP_STACK_PACK_H
#define _TRACE_STACKMAP_STACK_PACK_H

#include <linux/types.h>

#include "stack.h"

/*
 * Packs in place. In: word[0 .. depth - 1] = raw frames, `depth`, and in
 * `flags` STACKID_TRUNCATED and STACKID_USER. Out: word[0 .. words - 1],
 * `words`, and STACKID_NARROW set or clear. Returns `words`: 0 if depth is 0 or
 * above STACKID_DEPTH_MAX.
 */
u32 stackid_pack(struct stackid_stack *stack);

static inline u32 stackid_words(u32 depth, u32 flags)
{
	return flags & STACKID_NARROW ? (depth + 1) / 2 : depth;
}

/* Frame i (< depth) of packed words. */
static inline u64 stackid_frame(const u64 *word, u32 flags, u32 i)
{
	if (!(flags & STACKID_NARROW))
		return word[i];
	return STACKID_FRAME_NARROW_TOP | (u32)(word[i / 2] >> (i % 2 * 32));
}

#endif
