/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From frames to the stack field of a slot: an id of the stack map, or, where the map refuses it, a
 * run of slots with the full stack.
 */
#ifndef BPF_STACK_STORE_H
#define BPF_STACK_STORE_H

#include "ring_slots.h"
#include "stack_map.h"
#include "stack_pack.h"

/* The stack map's current generation; user space sets the inner map's size, and swaps it to reset.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
} tables SEC(".maps");

/* The stack field of a slot and its two flag bits. */
struct stack_field {
	u32 value;
	u32 state;
};

static __always_inline struct stack_field no_stack(u32 reason)
{
	return (struct stack_field){reason, STATE_NONE};
}

static __always_inline void *table_current(void)
{
	u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&tables, &zero);

	return inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
}

/* From raw frames in *stack (depth and flags set) to the event's field. */
static __always_inline struct stack_field stack_store(struct ring_header *ring, struct lane *lane,
						      struct stack *stack, u32 cpu)
{
	void *table;
	u64 position;

	if (!stack_pack(stack))
		return no_stack(REASON_NO_FRAMES);
	table = config.no_dedup ? NULL : table_current();
	if (table) {
		s64 id = stack_map_get_id(table, &geometry, cpu, stack);

		if (id > 0)
			return (struct stack_field){id, STATE_ID};
	}
	position = run_write(ring, lane, stack);
	if (position)
		return (struct stack_field){position, STATE_INLINE};
	return no_stack(REASON_NO_ROOM);
}

#endif
