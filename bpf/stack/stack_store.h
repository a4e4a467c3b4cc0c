/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores frames and returns the stack field of a slot: an id of the stack map, or, if the map
 * refuses the stack, the position of a run of slots with the full stack.
 */
#ifndef BPF_STACK_STORE_H
#define BPF_STACK_STORE_H

#include "stack_field.h"
#include "state/ring_slots.h"
#include "state/stack_tables.h"

/* A global function: it is large, and is verified once for all callers. */
__noinline u64 stack_store_word(struct scratch *scratch, struct stack *stack, u32 cpu)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	void *table = config.no_dedup ? NULL : current_stack_table();
	u64 position;

	if (!scratch || !stack || !ring || !stack_pack(stack))
		return STACK_FIELD_WORD(REASON_NO_FRAMES, STATE_NONE);
	if (table) {
		s64 id = stack_map_get_id(table, &geometry, cpu, stack);

		if (id > 0)
			return STACK_FIELD_WORD(id, STATE_ID);
	}
	if (is_event_kept_for_origin(scratch))
		return STACK_FIELD_WORD(REASON_NO_ROOM, STATE_NONE);
	position = is_event_counted_only(scratch) ? 0 : ring_write_stack_run(ring, scratch, stack);
	return position ? STACK_FIELD_WORD((u32)position, STATE_INLINE)
			: STACK_FIELD_WORD(REASON_NO_ROOM, STATE_NONE);
}

/* Stores the raw frames in *stack (depth and flags set), which lies in this CPU's scratch slot. */
static __always_inline struct stack_field stack_store(struct scratch *scratch, struct stack *stack,
						      u32 cpu)
{
	return stack_field_of_word(stack_store_word(scratch, stack, cpu));
}

#endif
