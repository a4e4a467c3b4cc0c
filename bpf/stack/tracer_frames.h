/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Removes the tracer's own frames from a kernel stack (abi/kernel_text.h). */
#ifndef BPF_TRACER_FRAMES_H
#define BPF_TRACER_FRAMES_H

#include "text_kind.h"

#define TRACER_FRAMES_MAX 4

struct stack_shift {
	struct scratch *scratch;
	u32 count;
};

static long kernel_word_shift(u32 i, struct stack_shift *shift)
{
	struct stack *stack = &shift->scratch->kernel;
	u32 count = shift->count;

	if (i >= STACK_KERNEL_DEPTH_MAX || i >= stack->depth || count > TRACER_FRAMES_MAX)
		return 1;
	stack->word[i] = stack->word[i + count];
	return 0;
}

/* Removes the first `count` frames of scratch->kernel. */
__noinline int kernel_stack_shift(struct scratch *scratch, u32 count)
{
	struct stack_shift shift = {scratch, count};

	if (!scratch || count > TRACER_FRAMES_MAX)
		return 0;
	bpf_loop(STACK_KERNEL_DEPTH_MAX, kernel_word_shift, &shift, 0);
	scratch->kernel.depth -= count;
	return 0;
}

static __always_inline void kernel_stack_drop_tracer(struct scratch *scratch)
{
	u32 count;

	for (count = 0; count < TRACER_FRAMES_MAX && count < scratch->kernel.depth; count++)
		if (text_kind(scratch, scratch->kernel.word[count]) != TEXT_TRACER)
			break;
	if (count)
		kernel_stack_shift(scratch, count);
}

#endif
