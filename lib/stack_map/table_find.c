/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies a published element to a stack with frames. */
#include "stack_map/table_find.h"

#include "stack_pack.h"

int table_find(void *table, const struct table_geometry *geometry, u32 id,
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
