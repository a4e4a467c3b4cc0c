/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rings of an instance (abi/ring.h), the address of a position, and the tables of events that
 * are counted only (abi/counted.h).
 */
#ifndef BPF_RINGS_H
#define BPF_RINGS_H

#include "counted.h"
#include "instance.h"
#include "map.h"
#include "ring_writer.h"

/* Created by user space: values of RING_BYTES(slots, slot_size), one per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct ring_header));
} rings SEC(".maps");

/* Created by user space: values of COUNTED_BYTES(), one per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, COUNTED_BYTES(COUNTED_ROWS_LEAST, 1));
} counted SEC(".maps");

/*
 * The slot of a position. The bound is on the offset itself: 6.1 forgets the bound of an index when
 * it is multiplied. The addition stands between the two barriers: clang 23 would add before the
 * bound is known, clang 19 later, to a copy of the offset made before the check.
 */
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

/*
 * A row of a table of counted events, and the range of the row. The index of the row wraps around.
 * The offset is bounded as in ring_slot().
 */
struct counted_place {
	struct counted_row *row;     /* never NULL in fact; the verifier demands a check */
	struct counted_range *range; /* NULL: the instance does not aggregate */
};

static __always_inline struct counted_place counted_place_at(struct counted_table *table, u64 at)
{
	u64 offset = (at & (config.counted_rows - 1)) * sizeof(struct counted_row);
	void *row = table + 1, *range = (void *)table;

	core_one_register(offset);
	if (offset > config.last_counted)
		return (struct counted_place){};
	core_one_register(offset);
	row += offset;
	core_one_register(row);
	if (!config.aggregate)
		return (struct counted_place){.row = row};
	range += config.counted_ranges;
	range += offset / sizeof(struct counted_row) * sizeof(struct counted_range);
	core_one_register(range);
	return (struct counted_place){.row = row, .range = range};
}

/* ring_take_positions() as a global function: its loop is verified once for all callers. */
__noinline u64 ring_reserve_positions(struct ring_header *ring, u32 slots, u32 count)
{
	return ring ? ring_take_positions(ring, slots, count) : 0;
}

#endif
