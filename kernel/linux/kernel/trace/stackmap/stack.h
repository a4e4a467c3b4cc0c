/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One call stack in the form that the stack map stores: frames innermost first,
 * packed into words.
 *
 * On x86-64 the kernel and its modules lie in the top 2 GiB, so the low 32 bits
 * identify a frame there. A stack whose frames all lie there is "narrow": two
 * frames a word, the earlier frame in the low half. All other stacks are "wide",
 * one frame a word. A narrow stack with an odd number of frames ends with a zero
 * half.
 *
 *   narrow: word[i] = (u32)frame[2i] | frame[2i + 1] << 32, words = (depth + 1) / 2
 *   wide:   word[i] = frame[i], words = depth
 *
 * A frame is a kernel address (bit 63 set) or a user frame (bit 63 clear): a
 * mapping number in bits 40 to 61 and the offset in the mapped file in bits 0 to
 * 39. Bits 40 to 62 are set if the mapping is unknown; the offset is then the
 * lower part of the address.
 */
#ifndef _TRACE_STACKMAP_STACK_H
#define _TRACE_STACKMAP_STACK_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define STACKID_DEPTH_MAX 511
/* size of a stack's array, above both limits of depth. */
#define STACKID_WORDS_MAX 512

#define STACKID_FRAME_OFFSET_BITS 40
#define STACKID_FRAME_OFFSET_MASK ((1ULL << STACKID_FRAME_OFFSET_BITS) - 1)
#define STACKID_FRAME_MAPPING_MAX ((1U << 23) - 1)
#define STACKID_FRAME_IS_KERNEL(frame) ((frame) >> 63)
#define STACKID_FRAME_MAPPING(frame)                                           \
	((u32)((frame) >> STACKID_FRAME_OFFSET_BITS) &                         \
	 STACKID_FRAME_MAPPING_MAX)
#define STACKID_FRAME_OFFSET(frame) ((frame) & STACKID_FRAME_OFFSET_MASK)
#define STACKID_FRAME_USER(mapping, offset)                                    \
	((u64)(mapping) << STACKID_FRAME_OFFSET_BITS |                         \
	 ((offset) & STACKID_FRAME_OFFSET_MASK))

#define STACKID_FRAME_NARROW_TOP                                               \
	0xffffffff80000000ULL /* bits that are set in every narrow frame */

enum stackid_flag {
	/* The flag is a part of the stack's identity */
	STACKID_TRUNCATED = 1 << 0,
	STACKID_NARROW = 1 << 1, /* two 32-bit frames a word */
	STACKID_USER = 1 << 2,	 /* user frames: (mapping, offset) */
};

struct stackid_stack {
	u16 depth;
	u16 flags;
	u32 words; /* used words of word[]; stackid_pack() derives them from depth and flags */
	u64 word[STACKID_WORDS_MAX];
};

static_assert(sizeof(struct stackid_stack) == 8 + 8 * STACKID_WORDS_MAX);

#endif
