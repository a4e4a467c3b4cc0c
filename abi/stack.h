/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One call stack in the form that the stack map stores: frames innermost first, packed into words.
 *
 * On x86-64 the kernel, its modules and BPF live in the top 2 GiB, so the low 32 bits identify such
 * a frame. A stack whose frames all lie there is "narrow": two frames a word, the earlier frame in
 * the low half. All other stacks are "wide", one frame a word. A narrow stack with an odd number of
 * frames ends with a zero half.
 *
 *   narrow: word[i] = (u32)frame[2i] | frame[2i + 1] << 32,  words = (depth + 1) / 2
 *   wide:   word[i] = frame[i],                              words = depth
 *
 * A frame is a kernel address (bit 63 set) or a user frame (bit 63 clear):
 *   guessed (1 bit) << 62 | mapping number (22 bits) << 40 | file offset (40 bits)
 * A frame is guessed if a step to it, or to a frame further in, is not proven
 * (core/arch/return_search.h). All 23 bits above the offset are set if the mapping is unknown.
 * For code without a file the mapping names the task and the upper address bits, and the offset is
 * the lower 40 bits of the address. See abi/mapping.h.
 *
 * A user stack that is deeper than STACK_USER_DEPTH_MAX has one frame in its middle that holds the
 * number of frames left out there (FRAME_OMITTED): the number stands in place of the offset, and
 * the mapping is MAPPING_NONE.
 *
 * The innermost frame of an event is the pc itself. Each frame further out lies after the
 * instruction that its function is at, so the byte before the frame belongs to that instruction:
 * for a function that made a call, the frame is the return address; for a function that a signal or
 * an exception interrupted, and for the trampoline that a signal handler returns to, the frame is
 * the pc + 1 (FRAME_BEHIND_INTERRUPTED).
 */
#ifndef STACKMAP_ABI_STACK_H
#define STACKMAP_ABI_STACK_H

#include "scalar.h"

#define STACK_KERNEL_DEPTH_MAX 127
#define STACK_USER_DEPTH_MAX 511
#define STACK_WALK_DEPTH_MAX 16384 /* the most frames of a user stack that a walk follows */
/*
 * size of a stack's array, above both limits of depth. All stacks have an array of this size, so
 * the verifier checks its bounds once
 */
#define STACK_WORDS_MAX 512

#define FRAME_OFFSET_BITS 40
#define FRAME_OFFSET_MASK ((1ULL << FRAME_OFFSET_BITS) - 1)
#define FRAME_MAPPING_MAX ((1U << 23) - 1)
#define FRAME_GUESSED (1ULL << 62)
#define FRAME_IS_KERNEL(frame) ((frame) >> 63)
#define FRAME_IS_UNKNOWN(frame)                                                                    \
	((u32)((frame) >> FRAME_OFFSET_BITS & FRAME_MAPPING_MAX) == FRAME_MAPPING_MAX)
#define FRAME_IS_GUESSED(frame)                                                                    \
	(!FRAME_IS_KERNEL(frame) && (frame)&FRAME_GUESSED && !FRAME_IS_UNKNOWN(frame))
#define FRAME_MAPPING(frame)                                                                       \
	(FRAME_IS_UNKNOWN(frame) ? FRAME_MAPPING_MAX                                               \
				 : (u32)((frame) >> FRAME_OFFSET_BITS) & FRAME_MAPPING_MAX >> 1)
#define FRAME_OFFSET(frame) ((frame)&FRAME_OFFSET_MASK)
#define FRAME_USER(mapping, offset)                                                                \
	((u64)(mapping) << FRAME_OFFSET_BITS | ((offset)&FRAME_OFFSET_MASK))

#define FRAME_OMITTED(frames) ((u64)(frames))
#define FRAME_IS_OMITTED(frame) ((frame) && !((frame) >> FRAME_OFFSET_BITS))

/*
 * The number that is added to the pc of an interrupted function: 1 and not the length of the
 * instruction, since the instruction is not decoded.
 */
#define FRAME_BEHIND_INTERRUPTED 1

/*
 * The reason why a user stack ends before its root, as an enum stop_reason (abi/rule.h) in its
 * flags: part of the identity. 0: the stack reaches its root, or is cut at the depth limit
 * (STACK_TRUNCATED).
 */
#define STACK_STOP_SHIFT 8
#define STACK_STOP(flags) ((u32)(flags) >> STACK_STOP_SHIFT & 0xf)

#define FRAME_NARROW_TOP 0xffffffff80000000ULL /* bits that are set in every narrow frame */

enum stack_flag {
	/* the stack was cut at the depth limit. The flag is a part of the stack's identity */
	STACK_TRUNCATED = 1 << 0,
	STACK_NARROW = 1 << 1, /* two 32-bit frames a word */
	STACK_USER = 1 << 2,   /* user frames: (mapping, offset) */
};

struct stack {
	u16 depth;
	u16 flags;
	u32 words; /* used words of word[]; stack_pack() derives them from depth and flags */
	u64 word[STACK_WORDS_MAX];
};
ABI_SIZE(struct stack, 8 + 8 * STACK_WORDS_MAX);

#endif
