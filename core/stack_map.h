/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack map: turns a packed stack into its id, exactly once per unique stack. Works on one
 * table (abi/table.h) in memory that somebody else owns; that no call uses a table any more when it
 * is given up is the owner's business (RCU for a BPF map, the generation swap of lib/stack_map in a
 * process).
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
 * The id (> 0) of a stack that stack_pack() has packed; an unknown one is stored. Or:
 *   -EINVAL  no frames, or the map is being reset
 *   -ENOSPC  it is unknown, and the pool is full, 2^bits stacks are stored, or 64 slots in a row
 * hold others `cpu` picks the line of counters: any number does. One reference, or one drop by
 * cause, is counted for each call with frames.
 *
 * BPF: the object's program includes stack_hash.c, stack_pack.c, stack_element.c and stack_map.c.
 * `table` is the map's value, `geometry` a `const volatile` global in .rodata (volatile up to the
 * last access, or the compiler takes its initialiser for the value), `stack` points to a whole
 * struct stack in a map value.
 */
CORE_INLINE s64 stack_map_get_id(void *table, const volatile struct table_geometry *geometry,
				 u32 cpu, const struct stack *stack);

#ifndef __bpf__
/* The id of a stack that is in the map; -ENOENT: it is not. Nothing is changed or counted. `stack`
 * was packed, and table and geometry are as above. */
s64 stack_map_lookup(void *table, const struct table_geometry *geometry, const struct stack *stack);
#endif

/*
 * The element that an id names: 0, -ESTALE (another generation's), -ENOENT (names nothing).
 * At most STACK_WORDS_MAX words may be read behind it.
 */
CORE_INLINE int stack_map_find(void *table, const volatile struct table_geometry *geometry, u32 id,
			       struct table_view **out);

/* One more reference to a stack by its id: 0, or as stack_map_find(). */
CORE_INLINE int stack_map_take(void *table, const volatile struct table_geometry *geometry, u32 id);

/* The element in slot `index` (0 .. slot_mask), or NULL. To walk a table. */
CORE_INLINE struct table_view *stack_map_at(void *table,
					    const volatile struct table_geometry *geometry,
					    u32 index);

/* The id of the stack in slot `index`. */
CORE_INLINE u32 stack_map_id(void *table, u32 index);

#endif
