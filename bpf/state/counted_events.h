/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts events that found their ring full, or all events (abi/counted.h): the event is written to
 * the scratch slot, as each event is, and is then added to the row of its stacks.
 *
 * A deferred stack comes with a cookie, which only one stay in the kernel has. An event that
 * would wait for one is counted without the user stack. Where the kernel unwinds deferred stacks,
 * the stack is requested all the same: the unwinding learns rules, with which later events have
 * their stacks at once.
 */
#ifndef BPF_COUNTED_EVENTS_H
#define BPF_COUNTED_EVENTS_H

#include "counted_row.h"
#include "instance.h"
#include "rings.h"
#include "scratch_slots.h"

/* scratch->position of an event that is only counted. Positions in a ring are larger. */
#define POSITION_COUNTED 1
/* scratch->position while stacks are taken that later events will have (bpf/event/origin.h) */
#define POSITION_ASIDE 2

static __always_inline bool is_event_counted_only(const struct scratch *scratch)
{
	return scratch->position == POSITION_COUNTED;
}

static __always_inline bool is_event_kept_for_origin(const struct scratch *scratch)
{
	return config.origins && scratch->position == POSITION_ASIDE;
}

/*
 * Returns POSITION_COUNTED, or 0 if the CPU has used up the time that it may spend on counting. An
 * instance that aggregates may spend any time, as it has no ring to fall back on.
 */
__noinline u64 counted_event_reserve(struct scratch *scratch, u32 cpu)
{
	struct counted_table *table = bpf_map_lookup_elem(&counted, &cpu);

	if (!scratch || !table)
		return 0;
	if (config.aggregate)
		return POSITION_COUNTED;
	scratch->counted_since = bpf_ktime_get_ns();
	if (table->busy_until > scratch->counted_since + COUNTED_AHEAD_NS)
		return 0;
	return POSITION_COUNTED;
}

static __always_inline void counted_add_busy_time(struct counted_table *table, u64 since)
{
	u64 now = bpf_ktime_get_ns(), spent = now - since, until = table->busy_until;

	if (spent > COUNTED_EVENT_NS_MAX)
		spent = COUNTED_EVENT_NS_MAX;
	if (until < since)
		until = since;
	table->busy_until = until + COUNTED_SHARE * spent;
}

/* Sets the stacks of the event's key and returns the key's flags. A stack that no other event can
 * have is left out, and the reason stands in its place. */
static __always_inline u64 counted_key_set_stacks(const struct event_slot *slot, u32 *kernel,
						  u32 *user)
{
	u32 flags = STAMP_FLAGS(slot->stamp);
	u32 kernel_state = EVENT_KERNEL_STATE(flags), user_state = EVENT_USER_STATE(flags);

	*kernel = slot->kernel;
	*user = slot->user;
	if (kernel_state == STATE_INLINE) {
		kernel_state = STATE_NONE;
		*kernel = REASON_NO_ROOM;
	}
	if (user_state == STATE_INLINE || user_state == STATE_COOKIE) {
		*user = user_state == STATE_COOKIE ? REASON_ANSWER_LOST : REASON_NO_ROOM;
		user_state = STATE_NONE;
	}
	return STAMP_OF(0, STAMP_KIND(slot->stamp), EVENT_FLAGS(kernel_state, user_state));
}

static __always_inline bool counted_keys_equal(const struct counted_key *key,
					       const struct counted_key *other)
{
	return key->task == other->task && key->stacks == other->stacks && key->leaf == other->leaf;
}

/*
 * Adds the event of scratch->counted_key to the row if the row is free or of this key. A global
 * function: verified once for all programs, and not once for each probe.
 */
__noinline u64 counted_row_add_event(struct scratch *scratch, u32 cpu, u64 at)
{
	struct counted_table *table = bpf_map_lookup_elem(&counted, &cpu);
	struct counted_place place = {};
	struct counted_row *row;
	u64 state;

	if (table)
		place = counted_place_at(table, at);
	row = place.row;
	if (!scratch || !row)
		return 0;
	state = atomic_load_acquire(&row->state);
	if (state == COUNTED_FREE)
		state = atomic_cas_acq_rel(&row->state, COUNTED_FREE, COUNTED_NEW);
	if (state == COUNTED_FREE) {
		row->key = scratch->counted_key;
		atomic_store_release(&row->state, COUNTED_READY);
	} else if (state != COUNTED_READY ||
		   !counted_keys_equal(&row->key, &scratch->counted_key)) {
		return 0;
	}
	if (config.aggregate)
		counted_row_add(row, place.range, scratch->counted_value);
	else
		counted_row_add(row, NULL, scratch->counted_value);
	return 1;
}

/* The bucket of a value (COUNTED_BUCKET_OF): the number of its binary digits. */
static __always_inline u64 counted_bucket(u64 value)
{
	u64 bucket = 0;

	for (u32 digits = 32; digits; digits /= 2)
		if (value >> digits) {
			bucket += digits;
			value >>= digits;
		}
	return bucket + (value != 0);
}

static __always_inline void counted_key_set(struct scratch *scratch)
{
	const struct event_slot *slot = (const void *)scratch->event;
	u32 kernel, user;
	u64 flags = counted_key_set_stacks(slot, &kernel, &user);

	scratch->counted_key.task = COUNTED_TASK(slot->tid, flags);
	scratch->counted_key.stacks = COUNTED_STACKS(kernel, user);
	scratch->counted_key.leaf = config.leaf ? slot->extra[0] : 0;
	scratch->counted_value = config.value ? slot->extra[config.leaf & 1] : 0;
	if (config.aggregate && config.value)
		scratch->counted_key.task |=
			COUNTED_BUCKET_OF(counted_bucket(scratch->counted_value));
}

static __always_inline u64 counted_hash(const struct counted_key *key)
{
	u64 hash = key->task ^ key->stacks * 0x9e3779b97f4a7c15ULL;

	hash ^= key->leaf * 0xc2b2ae3d27d4eb4fULL;
	return hash * 0x9e3779b97f4a7c15ULL >> 32;
}

static __always_inline void counted_event_count_lost(struct scratch *scratch, u32 cpu)
{
	const struct event_slot *slot = (const void *)scratch->event;

	scratch->counters.lost[config.aggregate ? LOST_TABLE_FULL : LOST_RING_FULL]++;
	count_source_loss(cpu, STAMP_KIND(slot->stamp));
}

/*
 * Adds the event in scratch->event to a row, or counts the event as lost if no row is free. A
 * global function: verified once for all programs.
 */
__noinline int counted_event_count_in_row(struct scratch *scratch, u32 cpu)
{
	struct counted_table *table = bpf_map_lookup_elem(&counted, &cpu);
	u64 hash, is_counted = 0;

	if (!scratch || !table)
		return 0;
	counted_key_set(scratch);
	hash = counted_hash(&scratch->counted_key);
	for (u32 i = 0; i < COUNTED_PROBES && !is_counted; i++)
		is_counted = counted_row_add_event(scratch, cpu, hash + i);
	if (is_counted)
		scratch->counters.counted++;
	else
		counted_event_count_lost(scratch, cpu);
	if (!config.aggregate)
		counted_add_busy_time(table, scratch->counted_since);
	return 0;
}

#endif
