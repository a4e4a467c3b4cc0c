/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stacks that one walk has left (core/stack_switch.h). */
#ifndef STACKMAP_ABI_STACK_SWITCHES_H
#define STACKMAP_ABI_STACK_SWITCHES_H

#include "scalar.h"

#define STACK_SWITCHES_MAX 8 /* a power of two */

struct stack_range {
	u64 from, to; /* rsp of the first and of the last frame on this stack */
};

struct stack_switches {
	u64 entered; /* rsp of the first frame on the current stack */
	u32 count;
	u32 reserved;
	struct stack_range left[STACK_SWITCHES_MAX];
};

/*
 * The caller of a frame on Go's scheduler stack, while a walk looks for the caller
 * (core/unwind/go_stack.h).
 */
struct go_caller {
	u64 goroutine; /* address of the goroutine's g */
	u64 depth;     /* depth of the goroutine's stack in bytes, as its runtime has noted it */
	u64 before;    /* the eight bytes in front of pc */
	u64 cfa;
	u64 pc;
	u64 saved_rbp;
	u64 rbp;
	u32 knows_rbp;
	u32 reserved;
};

#endif
