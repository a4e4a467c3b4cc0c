/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event in an interrupt. The current task was interrupted by chance, so its user stack, and the
 * part of the kernel stack behind the interrupt, do not belong to the event.
 *
 * An interrupt is recognised by the kernel's entry function on the stack. Soft interrupts at the
 * end of an interrupt run above that function, too. Soft interrupts that a task runs itself, for
 * example by sending to a local socket, have no such frame and belong to the task.
 *
 * The kernel's preemption count would not tell these two cases apart, and programs cannot read it
 * where kallsyms has no variables.
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

/*
 * Sets scratch->in_interrupt if scratch->kernel is the stack of an interrupt, and cuts the stack
 * where the interrupt begins. A global function: verified by itself.
 */
__noinline int interrupt_cut(struct scratch *scratch)
{
	if (scratch)
		bpf_loop(STACK_KERNEL_DEPTH_MAX, interrupt_step, &scratch, 0);
	return 0;
}

#endif
