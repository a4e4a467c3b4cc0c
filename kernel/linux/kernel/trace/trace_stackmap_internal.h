/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _KERNEL_TRACE_STACKMAP_INTERNAL_H
#define _KERNEL_TRACE_STACKMAP_INTERNAL_H

#include <linux/cache.h>
#include <linux/refcount.h>

#include "stackmap/stack_map.h"
#include "stackmap/stack_pack.h"

struct trace_array;

/* One generation of a map: what an instance writes between two resets */
struct trace_stackmap {
	refcount_t users;	/* the instance, and open files */
	atomic_long_t deep;	/* stacks with more frames than a map takes */
	struct stackid_geometry geometry;
	struct stackid_stack __percpu *packed;
	u8 table[] ____cacheline_aligned;
};

struct trace_stackmap *trace_stackmap_get(struct trace_array *tr);
void trace_stackmap_put(struct trace_stackmap *map);

#endif
