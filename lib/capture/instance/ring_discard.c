/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A commit word has the low bits of its record's position, and is compared with a position as
 * writers do (core/ring_writer.h), by the signed difference of the low bits. A slot that a writer
 * could not claim has an older event than its neighbours, and is discarded with them. */
#include "capture/instance/ring_discard.h"

#include "counted_row.h"
#include "ring_writer.h"

static bool is_deferred_stack(const struct event_slot *slot)
{
	return STAMP_KIND(atomic_load_relaxed(&slot->stamp)) == KIND_DEFERRED_STACK;
}

/* True if the commit word is that of a committed record before `limit`. */
static bool is_record_before(u32 commit, u64 limit)
{
	if (commit & (COMMIT_BUSY | COMMIT_CONTINUED))
		return false;
	if (!commit && limit < RING_FIRST_ROUND)
		return false;
	return (s32)(commit - COMMIT_OF(limit)) < 0;
}

/* Discards the record in a slot. Returns 1 if it was an event. The stamp does not change without
 * the commit word, so an unchanged commit word means that the stamp belongs to this record. */
static u32 discard_record_of_slot(struct event_slot *slot, u64 limit, u64 deferred_limit)
{
	u32 commit = atomic_load_acquire(&slot->commit);
	bool is_deferred = is_deferred_stack(slot);

	if (!is_record_before(commit, is_deferred ? deferred_limit : limit))
		return 0;
	if (atomic_cas_acq_rel(&slot->commit, commit, commit | COMMIT_CONTINUED) != commit)
		return 0;
	return !is_deferred;
}

u64 ring_discard_flight(struct ring_view *ring, u64 limit, u64 deferred_limit)
{
	u64 count = 0;

	for (u32 i = 0; i < ring->count; i++)
		count += discard_record_of_slot((struct event_slot *)ring_slot(ring, i), limit,
						deferred_limit);
	return count;
}

u64 ring_discard_drain(struct ring_view *ring, u64 limit)
{
	u64 position = ring->header->tail, count = 0;

	for (; position < limit; position++) {
		enum slot_state state = ring_slot_state(ring, position);

		if (state == SLOT_ABSENT)
			break;
		if (state == SLOT_EVENT)
			count += !is_deferred_stack(ring_slot(ring, position));
	}
	atomic_store_release(&ring->header->tail, position);
	return count;
}

u64 counted_table_discard(const struct capture_config *config, struct counted_table *table)
{
	struct counted_increase increase;
	u64 count = 0;

	for (u32 i = 0; i < config->counted_rows; i++)
		if (counted_row_take(&table->row[i], counted_range_at(config, table, i), &increase))
			count += increase.count;
	table->discarded += count;
	return count;
}
