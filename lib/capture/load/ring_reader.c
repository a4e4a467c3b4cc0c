/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values that are read from a ring are checked, since slots of a flight recorder may be overwritten
 * while they are read. */
#include "capture/load/ring_reader.h"

#include "stack_pack.h"

#define UNITS_MAX (1 + 2 * STACK_WORDS_MAX)

struct ring_view ring_view_of_mapped_memory(void *rings, u32 i, u64 stride, u32 count,
					    u32 slot_size)
{
	u8 *ring = (u8 *)rings + i * stride;

	return (struct ring_view){
		.header = (struct ring_header *)ring,
		.slots = ring + sizeof(struct ring_header),
		.count = count,
		.slot_size = slot_size,
	};
}

void ring_view_make_empty(struct ring_view *ring)
{
	ring->header->head = ring->count;
	ring->header->tail = ring->count;
}

u64 ring_head(const struct ring_view *ring)
{
	return __atomic_load_n(&ring->header->head, __ATOMIC_ACQUIRE);
}

const void *ring_slot(const struct ring_view *ring, u64 position)
{
	return ring->slots + position % ring->count * ring->slot_size;
}

enum slot_state ring_slot_state(const struct ring_view *ring, u64 position)
{
	u32 commit = __atomic_load_n((const u32 *)ring_slot(ring, position), __ATOMIC_ACQUIRE);

	if (commit == COMMIT_OF(position))
		return SLOT_EVENT;
	if (commit == (COMMIT_OF(position) | COMMIT_CONTINUED))
		return SLOT_CONTINUED;
	return SLOT_ABSENT;
}

u64 ring_committed_end(const struct ring_view *ring)
{
	u64 head = ring_head(ring), position = ring->header->tail;

	while (position < head && ring_slot_state(ring, position) != SLOT_ABSENT)
		position++;
	return position;
}

bool ring_is_deferred_stack(const struct ring_view *ring, u64 position)
{
	const struct event_slot *slot = ring_slot(ring, position);

	return STAMP_KIND(slot->stamp) == KIND_DEFERRED_STACK;
}

/* Reads unit i (4 bytes) of the run of slots that begins at position `first`. */
static bool read_run_unit(const struct ring_view *ring, u64 first, u32 i, u32 *unit)
{
	u32 per_slot = ring->slot_size / 4 - 1;
	u64 position = first + i / per_slot;

	if (i % per_slot == 0 && ring_slot_state(ring, position) != SLOT_CONTINUED)
		return false;
	*unit = ((const u32 *)ring_slot(ring, position))[1 + i % per_slot];
	return true;
}

u32 ring_read_run(const struct ring_view *ring, u64 event, u32 run, u64 *frames, u32 *flags)
{
	u64 first = event + (u32)(run - (u32)event);
	u32 units, depth, half;
	u64 words[STACK_WORDS_MAX] = {0};

	if (!read_run_unit(ring, first, 0, &half))
		return 0;
	depth = half & 0xffff;
	*flags = half >> 16;
	units = *flags & STACK_NARROW ? depth : 2 * depth;
	if (depth > STACK_WORDS_MAX || units >= UNITS_MAX)
		return 0;
	for (u32 i = 0; i < units; i++) {
		if (!read_run_unit(ring, first, i + 1, &half))
			return 0;
		words[i / 2] |= (u64)half << (i % 2 * 32);
	}
	for (u32 i = 0; i < depth; i++)
		frames[i] = stack_frame(words, *flags, i);
	return depth;
}
