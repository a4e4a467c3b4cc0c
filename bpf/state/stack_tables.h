/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The instance's stack map. */
#ifndef BPF_STACK_TABLES_H
#define BPF_STACK_TABLES_H

#include "instance.h"
#include "stack_map.h"
#include "stack_pack.h"

/*
 * The generations of the map, by enum table_role. User space sets the size of the inner maps, and
 * swaps them to reset.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TABLE_ROLES);
	__uint(key_size, 4);
	__uint(value_size, 4);
} tables SEC(".maps");

static __always_inline void *stack_table_of_role(u32 role)
{
	u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&tables, &role);

	return inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
}

/*
 * Returns the table of the current generation. The pointer is valid until the program ends; in
 * programs that may sleep, until rcu_leave().
 */
static __always_inline void *current_stack_table(void)
{
	return stack_table_of_role(TABLE_CURRENT);
}

static __always_inline u64 table_generation(const void *table)
{
	const struct table_header *header = table;

	return header->generation;
}

#endif
