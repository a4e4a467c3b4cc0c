/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rings of an instance (abi/ring.h), and where a position lies. */
#ifndef BPF_RINGS_H
#define BPF_RINGS_H

#include "instance.h"

/* Created by user space: values of RING_BYTES(slots, slot_size), one per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct ring_header));
} rings SEC(".maps");

/* The bound is on the offset itself: 6.1 forgets that of an index when it is multiplied. */
static __always_inline u32 *ring_slot(struct ring_header *ring, u64 position)
{
	u64 offset = position % config.ring_slots * config.slot_size;

	core_one_register(offset);
	if (offset > config.last_slot)
		return NULL;
	core_one_register(offset); /* clang 23 would add it before */
	return (void *)(ring + 1) + offset;
}

#endif
