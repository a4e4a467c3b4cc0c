/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack map: turns a packed stack into its id, exactly once per unique stack. The functions
 * work on one table (abi/table.h) in memory of the caller. The caller must not free a table that a
 * call still uses (RCU protects a BPF map, the generation swap of lib/stack_map a process).
 *
 * Every function here may be called in any context, NMI and signal handlers included, on any number
 * of CPUs at once.
 */
#ifndef CORE_STACK_MAP_H
#define CORE_STACK_MAP_H

#include "env.h"
#include "stack.h"
#include "stack_element.h"
#include "stack_table.h"
#include "table.h"

/*
 * Returns the id (> 0) of a stack that stack_pack() has packed; a new stack is stored. Errors:
 *   -EINVAL  the stack has no frames, or the map is being reset
 *   -ENOSPC  the stack is new, and the pool is full, 2^bits stacks are stored, or 64 slots in a
 *            row hold others
 * `cpu` picks the line of counters: any number is valid. Each call with frames counts one
 * reference, or one drop by cause.
 *
 * BPF: the object's program includes stack_hash.c, stack_pack.c, stack_element.c and stack_map.c.
 * `table` is the map's value, `geometry` a `const volatile` global in .rodata (volatile up to the
 * last access, or the compiler takes its initialiser for the value), `stack` points to a whole
 * struct stack in a map value.
 */
CORE_INLINE s64 stack_map_get_id(void *table, const volatile struct table_geometry *geometry,
				 u32 cpu, const struct stack *stack);

#ifndef __bpf__
/*
 * The id of a stack that is in the map; -ENOENT: the map does not hold it. The call changes no
 * counter. `stack` is packed; table and geometry are as above.
 */
s64 stack_map_lookup(void *table, const struct table_geometry *geometry, const struct stack *stack);
#endif

/*
 * Finds the element of an id: 0; -ESTALE: the id is of another generation; -ENOENT: the slot is
 * empty. At most STACK_WORDS_MAX words may be read from the element.
 */
CORE_INLINE int stack_map_find(void *table, const volatile struct table_geometry *geometry, u32 id,
			       struct table_view **out);

/* Adds one reference to the stack of an id; errors as for stack_map_find(). */
CORE_INLINE int stack_map_add_reference(void *table, const volatile struct table_geometry *geometry,
					u32 id);

/* The element in slot `index` (0 .. slot_mask), or NULL; for walks over a table. */
CORE_INLINE struct table_view *stack_map_at(void *table,
					    const volatile struct table_geometry *geometry,
					    u32 index);

/* The id of the stack in slot `index`. */
CORE_INLINE u32 stack_map_id(void *table, u32 index);

#endif
