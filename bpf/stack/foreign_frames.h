/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of a kernel stack that do not belong to the event: the tracer's own frames, and the
 * frames of a task that an interrupt stopped by chance (abi/config.h).
 */
#ifndef BPF_FOREIGN_FRAMES_H
#define BPF_FOREIGN_FRAMES_H

#include "text_kind.h"

#define TRACER_FRAMES_MAX 4

struct stack_shift {
	struct scratch *scratch;
	u32 count;
};

static long move_kernel_frame_inwards(u32 i, struct stack_shift *shift)
{
	struct stack *stack = &shift->scratch->kernel;
	u32 count = shift->count;

	if (i >= STACK_KERNEL_DEPTH_MAX || i >= stack->depth || count > TRACER_FRAMES_MAX)
		return 1;
	stack->word[i] = stack->word[i + count];
	return 0;
}

/* Removes the innermost `count` frames of scratch->kernel. */
__noinline int kernel_stack_drop_innermost_frames(struct scratch *scratch, u32 count)
{
	struct stack_shift shift = {scratch, count};

	if (!scratch || count > TRACER_FRAMES_MAX)
		return 0;
	bpf_loop(STACK_KERNEL_DEPTH_MAX, move_kernel_frame_inwards, &shift, 0);
	scratch->kernel.depth -= count;
	return 0;
}

/* Removes the tracer's own frames. */
static __always_inline void kernel_stack_drop_tracer_frames(struct scratch *scratch)
{
	u32 count;

	for (count = 0; count < TRACER_FRAMES_MAX && count < scratch->kernel.depth; count++)
		if (text_kind(scratch, scratch->kernel.word[count]) != TEXT_TRACER)
			break;
	if (count)
		kernel_stack_drop_innermost_frames(scratch, count);
}

/*
 * An event in an interrupt. The current task was interrupted by chance, so its user stack, and the
 * part of the kernel stack after the interrupt, do not belong to the event.
 *
 * An interrupt is recognised by the kernel's entry function on the stack. Soft interrupts at the
 * end of an interrupt run above that function, too. Soft interrupts that a task runs itself, for
 * example by sending to a local socket, have no such frame and belong to the task. The end of an
 * interrupt may switch to another task or do work of the interrupted one (TEXT_TASK); events there
 * belong to the task, too.
 *
 * The kernel's preemption count would not tell these two cases apart, and programs cannot read it
 * where kallsyms has no variables.
 */

static long check_frame_for_interrupt(u32 i, struct scratch **context)
{
	struct scratch *scratch = *context;
	u32 kind;

	core_one_register(i);
	if (i >= STACK_KERNEL_DEPTH_MAX || i >= scratch->kernel.depth)
		return 1;
	kind = text_kind(scratch, scratch->kernel.word[i]);
	if (kind != TEXT_INTERRUPT)
		return kind == TEXT_TASK;
	scratch->kernel.depth = i + 1;
	scratch->kernel.flags = 0;
	scratch->in_interrupt = 1;
	return 1;
}

/*
 * Sets scratch->in_interrupt if scratch->kernel is the stack of an interrupt, and cuts the stack
 * where the interrupt begins. A global function: verified by itself.
 */
__noinline int cut_kernel_stack_at_interrupt(struct scratch *scratch)
{
	if (scratch)
		bpf_loop(STACK_KERNEL_DEPTH_MAX, check_frame_for_interrupt, &scratch, 0);
	return 0;
}

#endif
