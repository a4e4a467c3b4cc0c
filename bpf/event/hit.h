/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How an event came about. */
#ifndef BPF_HIT_H
#define BPF_HIT_H

#include <stdbool.h>

#include "scratch.h"

struct hit {
	u32 kind;
	u32 skip;	/* frames of the tracer on the kernel stack */
	bool is_sample; /* its pc is the event's leaf, and the stacks begin at the caller */
	u64 kernel_pc;	/* of a sample in kernel mode; else 0 */
	u64 user_pc;	/* of an event in user mode: the task's registers are those there; else 0 */
	bool at_entry;	/* of a function, whose frame is not built yet */
	u64 value;	/* in the unit of its source; of a waker since when there was the wait */
	bool is_record; /* at a tracepoint, by perf's way */
	bool is_waker;	/* of whoever wakes a task, in the namespace or not */
	bool is_probe;	/* at an instruction of user mode: there is no kernel stack */
};

/* The sampled pc is of user mode. */
static __always_inline bool is_user_sample(const struct hit *hit)
{
	return hit->is_sample && !hit->kernel_pc;
}

#endif
