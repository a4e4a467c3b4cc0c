/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack map: turns a packed stack into its id, exactly once per unique
 * stack. The functions work on one table (table.h) in memory of the caller.
 */
#ifndef _TRACE_STACKMAP_STACK_MAP_H
#define _TRACE_STACKMAP_STACK_MAP_H

#include <linux/types.h>

#include "stack.h"
#include "stack_element.h"
#include "stack_table.h"
#include "table.h"

/*
 * Returns the id (> 0) of a stack that stackid_pack() has packed. A new stack is
 * stored. Errors:
 *   -EINVAL  the stack has no frames
 *   -ENOSPC  the stack is new, and the pool is full, 2^bits stacks are stored,
 *            or 64 slots in a row hold others
 * @cpu picks the line of counters. Each call with frames counts one reference,
 * or one drop by cause.
 */
s64 stackid_map_get_id(void *table, const struct stackid_geometry *geometry,
		       u32 cpu, const struct stackid_stack *stack);

/*
 * The element in slot @index (0 .. slot_mask), or NULL; for walks over a
 * table.
 */
struct stackid_element *stackid_map_at(void *table,
				       const struct stackid_geometry *geometry,
				       u32 index);

/* The id of the stack in slot @index. */
u32 stackid_map_id(void *table, u32 index);

#endif
