/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slots of the current CPU's ring: reserving one slot for an event, and runs of slots for stacks
 * that are recorded in full.
 */
#ifndef BPF_RING_SLOTS_H
#define BPF_RING_SLOTS_H

#include "counted_events.h"
#include "ledger.h"
#include "rings.h"
#include "scratch_slots.h"

/*
 * CLOCK_MONOTONIC, ns: until this time the recorder makes rules of files that it has met. A stack
 * that ends in code without a rule is sent as it is, and the recorder unwinds it when the rules are
 * there. The recorder moves the time on as it runs; after a recorder is killed the time passes, and
 * stacks are no longer sent.
 */
u64 rules_awaited;

static __always_inline bool are_rules_awaited(void)
{
	u64 until = rules_awaited;

	return until && bpf_ktime_get_ns() < until;
}

#define STOPS_WITHOUT_RULE                                                                         \
	(1U << STOP_NO_RULE | 1U << STOP_GUESSED | 1U << STOP_NOT_CODE | 1U << STOP_NULL_RETURN)

u32 paused;	  /* set of enum pause, as bits */
u32 freezer_tgid; /* process that has set PAUSE_SNAPSHOT; 0: none */

/*
 * generation and generation_done synchronise resets of the stack map with readers
 * (lib/capture/load/loaded.c).
 */
u64 generation;
u64 generation_done;

/* User space adds to it: how much of each note of the ledger the files have that were drained. */
u64 notes_reported[NOTE_COUNT];

#define FLIGHT_TRIES 4

/* The words of a context (abi/thread_context.h). The verifier takes no copy of bytes between maps
 * that a compiler would make a call of. */
static __always_inline void context_words_copy(u64 *to, const u64 *from)
{
	to[0] = from[0];
	to[1] = from[1];
	to[CONTEXT_SPAN] = from[CONTEXT_SPAN];
	to[CONTEXT_ATTRIBUTES] = from[CONTEXT_ATTRIBUTES];
}

static __always_inline void context_words_clear(u64 *words)
{
	words[0] = words[1] = words[CONTEXT_SPAN] = words[CONTEXT_ATTRIBUTES] = 0;
}

/*
 * Counts an event of the ring as overwritten: the event that a claimed slot still holds. Deferred
 * stacks are not events.
 */
static __always_inline void count_overwritten_event(struct scratch *scratch, const u32 *claimed)
{
	const struct event_slot *slot = (const void *)claimed;

	if (STAMP_KIND(slot->stamp) != KIND_DEFERRED_STACK)
		scratch->counters.lost[LOST_OVERWRITTEN]++;
}

/* Flight: takes and claims one slot. 0: interrupted writers hold all slots that were tried. */
static __always_inline u64 ring_claim_slot_in_flight_mode(struct ring_header *ring,
							  struct scratch *scratch)
{
	u32 try;

	for (try = 0; try < FLIGHT_TRIES; try++) {
		u64 position = atomic_fetch_add_acq_rel(&ring->head, 1);
		u32 *commit = ring_slot(ring, position);
		enum ring_claim claim;

		if (!commit)
			return 0;
		claim = ring_claim(commit, position);
		if (claim == CLAIM_EVENT)
			count_overwritten_event(scratch, commit);
		if (claim >= CLAIM_FRESH)
			return position;
	}
	return 0;
}

/* Reserves a slot of a ring, or else a place among the events that are counted only. */
static __always_inline u64 ring_reserve_slot_in_drain_mode(struct ring_header *ring,
							   struct scratch *scratch, u32 cpu)
{
	u64 position = config.aggregate ? 0 : ring_reserve_positions(ring, config.ring_slots, 1);

	if (!position && config.count)
		position = counted_event_reserve(scratch, cpu);
	return position;
}

/*
 * Reserves the place of an event and keeps it in scratch->position: a position in the ring of this
 * CPU, or POSITION_COUNTED. 0: the event is lost, and counted as that. A global function, as the
 * next: verified once for all programs.
 */
__noinline u64 event_reserve(struct scratch *scratch, u32 cpu, u32 kind)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	u64 position;

	if (!scratch || !ring)
		return 0;
	if (config.trace_ids)
		context_words_clear(scratch->context);
	position = config.flight ? ring_claim_slot_in_flight_mode(ring, scratch)
				 : ring_reserve_slot_in_drain_mode(ring, scratch, cpu);
	if (!position) {
		scratch->counters.lost[config.flight ? LOST_RING_BUSY : LOST_RING_FULL]++;
		count_source_loss(cpu, kind);
	}
	scratch->position = position;
	return position;
}

/* Counts an event as produced and reserves its place (event_reserve()); 0: the event is lost. */
static __always_inline u64 event_begin(struct scratch *scratch, u32 cpu, u32 kind)
{
	if (paused) {
		scratch->counters.lost[LOST_PAUSED]++;
		return 0;
	}
	scratch->counters.produced++;
	return event_reserve(scratch, cpu, kind);
}

/*
 * Copies the event in scratch->event to the slot at scratch->position, or adds the event to a row
 * of counts.
 */
__noinline int event_commit(struct scratch *scratch, u32 cpu)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	const struct event_slot *event;
	struct event_slot *slot;
	u64 position;

	if (!scratch || !ring)
		return 0;
	position = scratch->position;
	if (config.count && position == POSITION_COUNTED)
		return counted_event_count_in_row(scratch, cpu);
	slot = (void *)ring_slot(ring, position);
	if (!slot)
		return 0;
	event = (const void *)scratch->event;
	slot->tid = event->tid;
	slot->stamp = event->stamp;
	slot->kernel = event->kernel;
	slot->user = event->user;
	if (config.slot_size > EVENT_SLOT_SIZE(0))
		slot->extra[0] = event->extra[0];
	if (config.slot_size > EVENT_SLOT_SIZE(1))
		slot->extra[1] = event->extra[1];
	if (config.further && config.leaf)
		slot->extra[2] = event->extra[2];
	if (config.trace_ids)
		context_words_copy(&slot->extra[EVENT_NUMBERS(config)], scratch->context);
	atomic_store_release(&slot->commit, COMMIT_OF(position));
	return 0;
}

/* The slot of the current event in the scratch memory, which event_commit() writes. */
static __always_inline struct event_slot *event_slot_of(struct scratch *scratch)
{
	return (void *)scratch->event;
}

struct run {
	struct ring_header *ring;
	struct scratch *scratch;
	const struct stack *stack;
	u64 position;
	u32 claimed; /* number of slots that are claimed, flight only */
	u32 failed;
};

/* Flight: claims one slot of a run. All slots are claimed before the first is written. */
static long run_claim_slot(u32 i, struct run *run)
{
	u32 *commit = ring_slot(run->ring, run->position + i);
	enum ring_claim claim;

	if (!commit)
		return 1;
	claim = ring_claim(commit, run->position + i);
	if (claim < CLAIM_FRESH) {
		run->failed = 1;
		return 1;
	}
	if (claim == CLAIM_EVENT)
		count_overwritten_event(run->scratch, commit);
	run->claimed = i + 1;
	return 0;
}

/* Gives up a claimed slot of a run: the slot is committed, so that the next lap can claim it. */
static long run_release_slot(u32 i, struct run *run)
{
	u32 *commit = ring_slot(run->ring, run->position + i);

	if (commit)
		atomic_store_release(commit, COMMIT_OF(run->position + i) | COMMIT_CONTINUED);
	return 0;
}

static long run_write_slot(u32 i, struct run *run)
{
	u32 *slot = ring_slot(run->ring, run->position + i);
	u32 room = config.slot_size - sizeof(*slot), offset = i * room;
	u32 bytes = inline_stack_bytes_in_slot(offset, room);

	core_one_register(bytes); /* clang 19 compares a copy, of which 6.1 learns no bound */
	if (!slot || bytes > room || bytes > EVENT_SLOT_SIZE(EVENT_EXTRA_MAX) - sizeof(*slot))
		return 1;
	core_one_register(offset);
	if (offset > INLINE_STACK_BYTES_MAX)
		return 1;
	bpf_probe_read_kernel(slot + 1, bytes, inline_stack_payload(run->stack) + offset);
	if (!i)
		slot[1] = inline_stack_header_word(run->stack);
	atomic_store_release(slot, COMMIT_OF(run->position + i) | COMMIT_CONTINUED);
	return 0;
}

/*
 * Writes a stack in full to a run of slots after the slot of its event. Returns the position of the
 * run; 0: the ring has no room. Not inlined: its BPF stack would add to that of the lookup.
 */
static __noinline u64 ring_write_stack_run(struct ring_header *ring, struct scratch *scratch,
					   const struct stack *stack)
{
	u32 count = ring_run_slots(inline_stack_u32_count(stack), config.slot_size);
	struct run run = {.ring = ring, .scratch = scratch, .stack = stack};

	if (count > config.ring_slots / 2)
		return 0;
	if (config.flight) {
		run.position = atomic_fetch_add_acq_rel(&ring->head, count);
		bpf_loop(count, run_claim_slot, &run, 0);
		if (run.failed) {
			bpf_loop(run.claimed, run_release_slot, &run, 0);
			return 0;
		}
	} else {
		run.position = ring_reserve_positions(ring, config.ring_slots, count);
		if (!run.position)
			return 0;
	}
	bpf_loop(count, run_write_slot, &run, 0);
	return run.position;
}

#endif
