/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rings of an instance (abi/ring.h), and where a position lies. */
#ifndef BPF_RINGS_H
#define BPF_RINGS_H

#include "instance.h"
#include "ring_writer.h"

/* Created by user space: values of RING_BYTES(slots, slot_size), one per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct ring_header));
} rings SEC(".maps");

/* The bound is on the offset itself: 6.1 forgets that of an index when it is multiplied. It is
 * added between the two barriers: clang 23 would do so before the bound is known, clang 19 later,
 * by a copy of the offset that it made before. */
static __always_inline u32 *ring_slot(struct ring_header *ring, u64 position)
{
	u64 offset = position % config.ring_slots * config.slot_size;
	void *slot = ring + 1;

	core_one_register(offset);
	if (offset > config.last_slot)
		return NULL;
	core_one_register(offset);
	slot += offset;
	core_one_register(slot);
	return slot;
}

/* ring_take(), as a global function: its tries are verified once, whoever calls it. */
__noinline u64 positions_take(struct ring_header *ring, u32 slots, u32 count)
{
	return ring ? ring_take(ring, slots, count) : 0;
}

#endif
