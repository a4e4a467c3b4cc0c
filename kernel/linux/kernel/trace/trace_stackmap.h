/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stack ids: an instance stores each unique stack once, and its events carry
 * the 4-byte id of their stack.
 */
#ifndef _KERNEL_TRACE_STACKMAP_H
#define _KERNEL_TRACE_STACKMAP_H

#include <linux/types.h>

struct trace_array;

/* Nested contexts of a CPU that record stacks: task, softirq, irq and NMI */
#define TRACE_STACKMAP_NESTING 4

#ifdef CONFIG_FTRACE_STACKMAP
s64 trace_stackmap_get_id(struct trace_array *tr, int nesting,
			  const unsigned long *frames, unsigned int count);
int trace_stackmap_enable(struct trace_array *tr);
void trace_stackmap_disable(struct trace_array *tr);
#else
static inline s64 trace_stackmap_get_id(struct trace_array *tr, int nesting,
					const unsigned long *frames,
					unsigned int count)
{
	return -ENOENT;
}

static inline int trace_stackmap_enable(struct trace_array *tr)
{
	return 0;
}

static inline void trace_stackmap_disable(struct trace_array *tr) {}
#endif

#endif
