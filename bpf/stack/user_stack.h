/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user stack of the current task at the event itself, by frame pointers, with reads that do not
 * fault.
 *
 * A frame pointer points to the caller's, with the return address above it; each lies further up
 * the stack. At the entry of a function, whose frame is not built yet, the return address is on top
 * of the stack. Code built without frame pointers uses rbp for any value: an address outside
 * executable mappings is such a value and ends the stack.
 */
#ifndef BPF_USER_STACK_H
#define BPF_USER_STACK_H

#include "deep_stack.h"
#include "mapping/user_frame.h"
#include "state/user_registers.h"

/* Begins at the place where the task left user mode. */
static __always_inline void walk_from_task(struct user_walk *walk)
{
	const struct pt_regs___kernel *regs = current_regs();
	struct place place = current_place();

	walk->pc = place.pc;
	walk->sp = place.sp;
	walk->fp = regs_frame_pointer(regs);
	walk->link = regs_link(regs);
	walk->compat = regs_are_compat(regs);
	walk->at_entry = 0;
}

/* Reads two stack words; the words of 32-bit tasks have four bytes. */
static __always_inline bool read_words(const struct user_walk *walk, u64 address, u64 words[2])
{
	u32 narrow[2];

	if (!walk->compat)
		return !bpf_probe_read_user(words, 16, (void *)address);
	if (bpf_probe_read_user(narrow, sizeof(narrow), (void *)address))
		return false;
	words[0] = narrow[0];
	words[1] = narrow[1];
	return true;
}

/* Steps from a frame to its caller. pc = 0: there is no caller. */
static __always_inline void fp_walk_advance(struct user_walk *walk)
{
	u64 words[2];

	walk->pc = 0;
	if (walk->at_entry) {
		walk->at_entry = 0;
		if (walk->link)
			walk->pc = code_address(walk->link);
		else if (read_words(walk, walk->sp, words))
			walk->pc = words[0];
		return;
	}
	if (walk->fp < walk->sp || walk->fp & (walk->compat ? 3 : 7) ||
	    !read_words(walk, walk->fp, words))
		return;
	walk->sp = walk->fp + (walk->compat ? 4 : 8);
	walk->fp = words[0];
	walk->pc = code_address(words[1]);
}

/* The frame of the current pc; 0: the pc is not code. */
static __always_inline u64 fp_walk_frame(struct scratch *scratch)
{
	struct user_walk *walk = &scratch->walk;
	u64 frame = user_frame(scratch, walk->pc);

	if (frame)
		return frame;
	walk->pc = probed_return(walk->sp);
	return walk->pc ? user_frame(scratch, walk->pc) : 0;
}

static long fp_walk_step(u32 index, struct scratch **context)
{
	struct scratch *scratch = *context;
	u32 slot = deep_stack_slot(index);
	u64 frame;

	if (!scratch->walk.pc)
		return 1;
	frame = fp_walk_frame(scratch);
	if (!frame) {
		scratch->walk.pc = 0;
		return 1;
	}
	core_one_register(slot);
	scratch->user.word[slot & (STACK_WORDS_MAX - 1)] = frame;
	scratch->user.depth =
		index + 1; /* a counter on the BPF stack would be followed by the verifier */
	fp_walk_advance(&scratch->walk);
	return 0;
}

/* Walks from scratch->walk. Sets the frames, depth and flags of scratch->user. */
static __always_inline void user_stack_walk(struct scratch *scratch)
{
	scratch->user.depth = 0;
	bpf_loop(config.max_user_depth, fp_walk_step, &scratch, 0);
	scratch->user.flags = STACK_USER;
	if (scratch->user.depth == config.max_user_depth && scratch->walk.pc)
		scratch->user.flags |= STACK_TRUNCATED;
	scratch->user.depth = deep_stack_end((struct deep_stack *)scratch->user.word,
					     core_reload(scratch->user.depth));
}

#endif
