/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks up a stack id in a table that must not be reset meanwhile, and copies the element to a
 * stack and its frames.
 */
#ifndef LIB_STACK_MAP_TABLE_FIND_H
#define LIB_STACK_MAP_TABLE_FIND_H

#include "stack_map.h"
#include "stack_pack.h"
#include "stackmap/stack_map.h"

/* Returns the same results as stackmap_map_find(). */
static inline int table_find_stack_by_id(void *table, const struct table_geometry *geometry, u32 id,
					 struct stackmap_stack *stack, u64 *frames, u32 max)
{
	struct table_view *element;
	int code = stack_map_find(table, geometry, id, &element);

	if (!code) {
		u32 flags = IDENTITY_FLAGS(element->identity);

		stack->ref_count = atomic_load_relaxed(&element->ref_count);
		stack->depth = IDENTITY_DEPTH(element->identity);
		stack->truncated = !!(flags & STACK_TRUNCATED);
		for (u32 i = 0; i < stack->depth && i < max; i++)
			frames[i] = stack_frame(element->word, flags, i);
	}
	return code;
}

#endif
