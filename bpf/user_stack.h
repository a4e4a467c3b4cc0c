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

#define SEQUENCE_CHANGING 1U

/*
 * Makes lane->vma speak of the current task's address space, and of no mapping yet. False: it has
 * none.
 *
 * What is cached counts as long as mm_lock_seq stands still. While it is odd the mappings are being
 * changed: `sequence` then matches no entry and makes none.
 */
static __always_inline bool address_space_enter(struct lane *lane)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct address_space *space = &lane->vma.space;
	struct mm_struct *mm = task->mm;

	lane->vma.end = 0;
	space->mm = (u64)mm;
	if (!mm)
		return false;
	space->process = task->group_leader->start_time;
	space->execs = task->self_exec_id;
	space->sequence = SEQUENCE_CHANGING;
	if (bpf_core_field_exists(mm->mm_lock_seq))
		space->sequence = mm->mm_lock_seq.sequence;
	barrier_compiler(); /* the address is read back as a number: the verifier lets nobody
			       calculate with a pointer */
	return true;
}

static __always_inline bool same_space(const struct address_space *a, const struct address_space *b)
{
	return a->mm == b->mm && a->process == b->process && a->execs == b->execs &&
	       a->sequence == b->sequence;
}

static __always_inline struct lane_vma *cached_page(struct lane *lane, u64 address)
{
	u64 key = (address >> 12) + (lane->vma.space.mm >> 6);

	return &lane->page[(key ^ key >> 8) & (LANE_PAGES - 1)];
}

static __always_inline bool covers(const struct lane_vma *vma, u64 address)
{
	return address >= vma->start && address < vma->end;
}

/* Makes lane->vma the mapping of an address: as mapping_find(), which it asks only when the page is
 * not cached. */
static __always_inline int page_find(struct lane *lane, u64 address)
{
	struct lane_vma *page = cached_page(lane, address);
	int error;

	if (covers(page, address) && same_space(&page->space, &lane->vma.space)) {
		lane->vma = *page;
		return 0;
	}
	error = mapping_find(lane, address);
	if (!error && !(lane->vma.space.sequence & 1))
		*page = lane->vma;
	return error;
}

/* A raw user address as a frame, 0 where no code is mapped. */
static __always_inline u64 user_frame(struct lane *lane, u64 address)
{
	struct lane_vma *vma = &lane->vma;

	if (!covers(vma, address)) {
		int error = page_find(lane, address);

		if (error == -ENOENT)
			return 0;
		if (error) {
			lane->counters.unknown_frames++;
			return FRAME_USER(MAPPING_UNKNOWN, address);
		}
	}
	return FRAME_USER(vma->number, address - vma->start + vma->file_offset);
}

static long convert_frame(u32 index, struct lane **context)
{
	struct lane *lane = *context;
	u64 frame;

	if (index >= STACK_WORDS_MAX)
		return 1;
	frame = user_frame(lane, lane->user.word[index]);
	if (!frame)
		return 1;
	lane->user.word[index] = frame;
	lane->user.depth = index + 1;
	return 0;
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
static __always_inline u32 user_stack_convert(struct lane *lane, u32 depth)
{
	lane->user.depth = 0;
	bpf_loop(depth, convert_frame, &lane, 0);
	return lane->user.depth;
}

#endif
