/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Takes the tracer's own frames off a kernel stack (abi/kernel_text.h). */
#ifndef BPF_TRACER_FRAMES_H
#define BPF_TRACER_FRAMES_H

#include "text_kind.h"

#define TRACER_FRAMES_MAX 4

/* Removes the first `count` frames of lane->kernel. */
__noinline int kernel_stack_shift(struct lane *lane, u32 count)
{
	u32 i;

	if (!lane || count > TRACER_FRAMES_MAX)
		return 0;
	for (i = 0; i < STACK_KERNEL_DEPTH_MAX && i < lane->kernel.depth; i++)
		lane->kernel.word[i] = lane->kernel.word[i + count];
	lane->kernel.depth -= count;
	return 0;
}

static __always_inline void kernel_stack_drop_tracer(struct lane *lane)
{
	u32 count;

	for (count = 0; count < TRACER_FRAMES_MAX && count < lane->kernel.depth; count++)
		if (text_kind(lane, lane->kernel.word[count]) != TEXT_TRACER)
			break;
	if (count)
		kernel_stack_shift(lane, count);
}

#endif
