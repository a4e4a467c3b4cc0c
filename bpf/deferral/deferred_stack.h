/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The deferred stacks of an instance with rings (bpf/deferral/request.h): each goes into a slot of
 * its own, which readers join with the events that hold its cookie.
 */
#ifndef BPF_DEFERRED_STACK_H
#define BPF_DEFERRED_STACK_H

#include "raw_stack_send.h"
#include "stack/perl_names.h"
#include "stack/script_stack.h"
#include "stack/stack_store.h"
#include "stack/unwinder.h"

/* number of deferred stacks that found no room in the ring, or no free scratch slot */
u64 deferred_stacks_lost;

/* A thread id and the cookie of a deferred stack, in one argument. */
#define STACK_WAIT(tid, cookie) ((u64)(tid) << 32 | (cookie))

/*
 * Takes a slot of this CPU's ring: returns its position, or 0. A global function, as the next one:
 * verified once for all stacks that a program delivers.
 */
__noinline u64 deferred_stack_reserve_slot(struct scratch *scratch, u32 cpu)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	u64 position = 0;

	if (!scratch || !ring)
		return 0;
	if (paused & PAUSE_SNAPSHOT)
		;
	else if (config.flight)
		position = ring_claim_slot_in_flight_mode(ring, scratch);
	else
		position = ring_reserve_positions(ring, config.ring_slots, 1);
	if (!position)
		atomic_add_relaxed(&deferred_stacks_lost, 1);
	return position;
}

/* Writes a deferred stack, given as a STACK_FIELD_WORD(), to a slot. */
__noinline int deferred_stack_write_slot(u32 cpu, u64 position, u64 wait, u64 user, u64 leaf)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct stack_field field = stack_field_of_word(user);
	struct event_slot *slot = ring ? (void *)ring_slot(ring, position) : NULL;

	if (!slot)
		return 0;
	slot->tid = wait >> 32;
	slot->stamp = STAMP_OF(bpf_ktime_get_ns(), KIND_DEFERRED_STACK,
			       EVENT_FLAGS(STATE_NONE, field.state));
	slot->kernel = (u32)wait;
	slot->user = field.value;
	if (config.leaf)
		slot->extra[0] = leaf;
	atomic_store_release(&slot->commit, COMMIT_OF(position));
	return 0;
}

static __always_inline void deferred_stack_send_stack(struct scratch *scratch, u32 cpu, u32 tid,
						      u32 cookie, u64 leaf)
{
	u64 position = deferred_stack_reserve_slot(scratch, cpu);

	if (position)
		deferred_stack_write_slot(cpu, position, STACK_WAIT(tid, cookie),
					  stack_store_word(scratch, &scratch->user, cpu), leaf);
}

static __always_inline void deferred_stack_send_reason(struct scratch *scratch, u32 cpu, u32 tid,
						       u32 cookie, u32 reason)
{
	u64 position = deferred_stack_reserve_slot(scratch, cpu);

	if (position)
		deferred_stack_write_slot(cpu, position, STACK_WAIT(tid, cookie),
					  STACK_FIELD_WORD(reason, STATE_NONE), 0);
}

static __always_inline u64 deferred_stack_replace_loop_frames(struct scratch *scratch)
{
	script_replace_after_direct_walk(scratch);
	return scratch->direct.leaf;
}

static __always_inline u64 deferred_stack_replace_unwinder_loops(struct scratch *scratch,
								 const struct unwinder *unwinder,
								 u64 leaf)
{
	struct direct_walk *walk = &scratch->direct;

	if (bpf_probe_read_kernel(&walk->scripts, sizeof(walk->scripts), &unwinder->walk.scripts))
		return leaf;
	walk->leaf = leaf;
	walk->max_depth = config.max_user_depth;
	scratch->script.space = unwinder->search.vma.space;
	if (unwinder->walk.depth < STACK_USER_DEPTH_MAX && is_innermost_loop_of_perl(scratch))
		perl_replace_loop_frames(scratch);
	else if (unwinder->walk.depth < STACK_USER_DEPTH_MAX)
		script_replace_loop_frames(scratch);
	else
		scratch->counters.script_unjoined += walk->scripts.count + walk->scripts.missed;
	return walk->leaf;
}

/*
 * Leaves a stack that ends for want of a rule to the recorder, which will have the rules of that
 * code. False: no rules are to come, or the ring buffer has no room, or not all mappings fit. The
 * recorder cannot name functions of scripts.
 */
static __always_inline bool deferred_stack_leave_to_user_space(struct scratch *scratch, u32 tid,
							       u32 cookie,
							       const struct unwinder *unwinder)
{
	const struct unwind *walk = &unwinder->walk;

	return are_rules_awaited() && walk->mapping.image && !walk->scripts.count &&
	       !walk->java.is_found && !walk->v8.has_names &&
	       1U << walk->stop & STOPS_WITHOUT_RULE &&
	       set_search_to_current_address_space(&scratch->search) &&
	       !raw_save_current_stack(scratch, tid, cookie, RAW_BETTER);
}

static __always_inline void deferred_stack_send_memory(struct scratch *scratch, u32 cpu, u32 tid,
						       u32 cookie)
{
	if (raw_save_current_stack(scratch, tid, cookie, 0))
		deferred_stack_send_reason(scratch, cpu, tid, cookie, REASON_NO_ROOM);
}

static __always_inline void deferred_stack_report_lost(u32 tid, u32 cookie)
{
	atomic_add_relaxed(&deferred_stacks_lost, 1);
}

#endif
