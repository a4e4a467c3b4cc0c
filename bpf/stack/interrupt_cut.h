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

static long interrupt_look(u32 i, struct lane **context)
{
	struct lane *lane = *context;

	core_one_register(i);
	if (i >= STACK_KERNEL_DEPTH_MAX || i >= lane->kernel.depth)
		return 1;
	if (text_kind(lane, lane->kernel.word[i]) != TEXT_INTERRUPT)
		return 0;
	lane->kernel.depth = i + 1;
	lane->kernel.flags = 0;
	lane->in_interrupt = 1;
	return 1;
}

/* Whether lane->kernel is of an interrupt, as lane->in_interrupt: then it ends where that begins. A
 * global function: verified by itself. */
__noinline int interrupt_cut(struct lane *lane)
{
	if (lane)
		bpf_loop(STACK_KERNEL_DEPTH_MAX, interrupt_look, &lane, 0);
	return 0;
}

#endif
