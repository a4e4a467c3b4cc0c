/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interrupts on the kernel's stack of an event, by the kernel's functions (abi/config.h):
 * the kind of the innermost one, and INTERRUPTS_HARD if any of them is a hard one.
 */
#ifndef BPF_INTERRUPTS_H
#define BPF_INTERRUPTS_H

#include "stack/text_kind.h"

#define INTERRUPTS_HARD 0x100U
#define INTERRUPTS_NOT_KNOWN 0x200U
#define INTERRUPTS_INNERMOST(interrupts) ((interrupts)&0xff)

static __always_inline bool is_interrupt(u32 interrupts)
{
	return interrupts & INTERRUPTS_HARD;
}

/* The innermost interrupt is a soft one, as far as is known. */
static __always_inline bool may_be_soft_interrupt(u32 interrupts)
{
	return interrupts & INTERRUPTS_NOT_KNOWN ||
	       INTERRUPTS_INNERMOST(interrupts) == TEXT_SOFT_INTERRUPT;
}

static long interrupts_step(u32 i, struct scratch **context)
{
	struct scratch *scratch = *context;
	u32 kind;

	core_one_register(i);
	if (i >= STACK_KERNEL_DEPTH_MAX || i >= scratch->kernel.depth)
		return 1;
	kind = text_kind(scratch, scratch->kernel.word[i]);
	if (kind == TEXT_SOFT_INTERRUPT && !scratch->interrupts)
		scratch->interrupts = TEXT_SOFT_INTERRUPT;
	if (kind != TEXT_INTERRUPT)
		return 0;
	if (!scratch->interrupts)
		scratch->interrupts = TEXT_INTERRUPT;
	scratch->interrupts |= INTERRUPTS_HARD;
	return 1;
}

/* Sets scratch->interrupts by scratch->kernel. A global function: verified by itself. */
__noinline int interrupts_find(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	scratch->interrupts = 0;
	bpf_loop(STACK_KERNEL_DEPTH_MAX, interrupts_step, &scratch, 0);
	return 0;
}

#endif
