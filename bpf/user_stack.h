/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user stack of the current task at the event itself, by frame pointers, as
 * position-independent frames.
 *
 * Code built without frame pointers leaves whatever rbp holds to the walk; an address outside
 * executable mappings is such an accident and ends the stack.
 */
#ifndef BPF_USER_STACK_H
#define BPF_USER_STACK_H

#include "instance.h"
#include "user_mapping.h"

struct frame_conversion {
	struct lane *lane;
	u64 mm;
};

/* A raw user address as a frame, 0 where no code is mapped. */
static __always_inline u64 user_frame(struct lane *lane, u64 mm, u64 address)
{
	struct lane_vma *vma = &lane->vma;

	if (address < vma->start || address >= vma->end) {
		int error = mapping_find(lane, mm, address);

		if (error == -ENOENT)
			return 0;
		if (error) {
			lane->counters.unknown_frames++;
			return FRAME_USER(MAPPING_UNKNOWN, address);
		}
	}
	return FRAME_USER(vma->number, address - vma->start + vma->file_offset);
}

static long convert_frame(u32 index, struct frame_conversion *conversion)
{
	struct lane *lane = conversion->lane;
	u64 frame;

	if (index >= STACK_WORDS_MAX)
		return 1;
	frame = user_frame(lane, conversion->mm, lane->user.word[index]);
	if (!frame)
		return 1;
	lane->user.word[index] = frame;
	lane->user.depth = index + 1;
	return 0;
}

static __always_inline u64 current_mm(void)
{
	return (u64)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), mm);
}

/* Fills lane->user with raw frames: their number, 0 if there are none. */
static __always_inline u32 user_stack_take(void *ctx, struct lane *lane, u32 skip)
{
	long bytes = bpf_get_stack(ctx, lane->user.word, STACK_KERNEL_DEPTH_MAX * 8,
				   skip | BPF_F_USER_STACK);

	return bytes > 0 ? (u32)bytes / 8 : 0;
}

/* Converts the raw frames of lane->user in place, and sets the depth that remains: in the lane,
 * since the verifier would follow a counter on the stack through every round. */
static __always_inline u32 user_stack_convert(struct lane *lane, u64 mm, u32 depth)
{
	struct frame_conversion conversion = {.lane = lane, .mm = mm};

	lane->user.depth = 0;
	bpf_loop(depth, convert_frame, &conversion, 0);
	return lane->user.depth;
}

#endif
