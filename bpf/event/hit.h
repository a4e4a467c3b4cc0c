/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The properties of one event. */
#ifndef BPF_HIT_H
#define BPF_HIT_H

#include <stdbool.h>

#include "scratch.h"

struct hit {
	u32 kind;
	u32 skip;	/* frames of the tracer on the kernel stack */
	bool is_sample; /* the pc is the event's leaf, and the stacks begin at the caller */
	u64 kernel_pc;	/* pc of a sample in kernel mode; else 0 */
	u64 user_pc;	/* pc of an event in user mode, where the task's registers are; else 0 */
	bool at_entry;	/* at a function's entry: its frame is not built yet */
	u64 value;	/* in the unit of the source; waker events: begin of the wait, ns */
	bool is_record; /* at a tracepoint, attached by perf */
	bool is_waker;	/* wakes a task or queues work; it may be outside of the namespace */
	bool is_probe;	/* at an instruction of user mode: there is no kernel stack */
};

/* True for a CPU sample in user mode. */
static __always_inline bool is_user_sample(const struct hit *hit)
{
	return hit->is_sample && !hit->kernel_pc;
}

#endif
