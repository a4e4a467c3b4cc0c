/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event in an interrupt: the current task is just the one that was interrupted, so its user
 * stack, and what lies behind the interrupt on the kernel's, say nothing of the event.
 *
 * On the stack is the function that the kernel has entered for the interrupt. Soft interrupts run
 * below it, too, when an interrupt ends; those that a task runs itself, as whoever sends to a
 * local socket does, have no such frame and are the task's.
 *
 * The kernel's preemption count would not tell these two apart; and programs cannot read it where
 * kallsyms has no variables.
 */
#ifndef BPF_INTERRUPT_CUT_H
#define BPF_INTERRUPT_CUT_H

#include "text_kind.h"

static long interrupt_step(u32 i, struct scratch **context)
{
	struct scratch *scratch = *context;

	core_one_register(i);
	if (i >= STACK_KERNEL_DEPTH_MAX || i >= scratch->kernel.depth)
		return 1;
	if (text_kind(scratch, scratch->kernel.word[i]) != TEXT_INTERRUPT)
		return 0;
	scratch->kernel.depth = i + 1;
	scratch->kernel.flags = 0;
	scratch->in_interrupt = 1;
	return 1;
}

/* Whether scratch->kernel is of an interrupt, as scratch->in_interrupt: then it ends
 * where that begins. A global function: verified by itself. */
__noinline int interrupt_cut(struct scratch *scratch)
{
	if (scratch)
		bpf_loop(STACK_KERNEL_DEPTH_MAX, interrupt_step, &scratch, 0);
	return 0;
}

#endif
