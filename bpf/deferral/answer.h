/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an instance with rings has its answers (bpf/deferral/request.h): in a slot that readers
 * join with the events that hold the cookie.
 */
#ifndef BPF_ANSWER_H
#define BPF_ANSWER_H

#include "raw_request.h"
#include "stack/stack_store.h"

u64 answers_lost; /* for which the ring had no room, or no scratch slot was free */

static __always_inline u64 answer_reserve(struct ring_header *ring, struct scratch *scratch)
{
	u64 position = 0;

	if (paused & PAUSE_SNAPSHOT)
		;
	else if (config.flight)
		position = flight_take(ring, scratch);
	else
		position = ring_take(ring, config.ring_slots, 1);
	if (!position)
		atomic_add_relaxed(&answers_lost, 1);
	return position;
}

static __always_inline void answer_commit(struct ring_header *ring, u64 position, u32 tid,
					  u32 cookie, struct stack_field user, u64 leaf)
{
	struct event_slot *slot = (void *)ring_slot(ring, position);

	if (!slot)
		return;
	slot->tid = tid;
	slot->stamp =
		STAMP_OF(bpf_ktime_get_ns(), KIND_DELIVERY, EVENT_FLAGS(STATE_NONE, user.state));
	slot->kernel = cookie;
	slot->user = user.value;
	if (config.leaf)
		slot->extra[0] = leaf;
	atomic_store_release(&slot->commit, COMMIT_OF(position));
}

static __always_inline void answer_stack(struct scratch *scratch, u32 cpu, u32 tid, u32 cookie,
					 u64 leaf)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	u64 position = ring ? answer_reserve(ring, scratch) : 0;

	if (position)
		answer_commit(ring, position, tid, cookie,
			      stack_store(scratch, &scratch->user, cpu), leaf);
}

static __always_inline void answer_refuse(struct scratch *scratch, u32 cpu, u32 tid, u32 cookie,
					  u32 reason)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	u64 position = ring ? answer_reserve(ring, scratch) : 0;

	if (position)
		answer_commit(ring, position, tid, cookie, no_stack(reason), 0);
}

static __always_inline void answer_unfinished(struct scratch *scratch, u32 cpu, u32 tid, u32 cookie)
{
	if (raw_save(scratch, tid, cookie))
		answer_refuse(scratch, cpu, tid, cookie, REASON_NO_ROOM);
}

static __always_inline void answer_drop(u32 tid, u32 cookie)
{
	atomic_add_relaxed(&answers_lost, 1);
}

#endif
