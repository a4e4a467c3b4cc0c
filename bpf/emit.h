/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One event: reserve its slot, take its stacks, turn them into ids, commit.
 *
 * The slot comes first, so the stack map's counters and the ring agree. A stack that the map
 * refuses goes into a run of slots behind the event.
 */
#ifndef BPF_EMIT_H
#define BPF_EMIT_H

#include "filter.h"
#include "lanes.h"
#include "stack_map.h"
#include "stack_pack.h"
#include "tracer_frames.h"
#include "user_stack.h"

/* Created by user space: values of RING_BYTES(slots, slot_size), one per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct ring_header));
} rings SEC(".maps");

/* The stack map's current generation; user space sets the inner map's size, and swaps it to reset.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
} tables SEC(".maps");

#define FLIGHT_TRIES 4

/* Frames of the program and of what called it; a raw tracepoint's glue may add some
 * (tracer_frames.h). */
#define SKIP_RAW_TRACEPOINT 2
#define SKIP_TRAMPOLINE 2

/* The stack field of an event and its two flag bits. */
struct stack_field {
	u32 value;
	u32 state;
};

struct event {
	u32 kind;
	u32 extras;
	u64 extra[EVENT_EXTRA_MAX];
};

/* The bound is on the offset itself: 6.1 forgets that of an index when it is multiplied. */
static __always_inline u32 *ring_slot(struct ring_header *ring, u64 position)
{
	u64 offset = position % config.ring_slots * config.slot_size;

	core_one_register(offset);
	if (offset > config.last_slot)
		return NULL;
	return (void *)(ring + 1) + offset;
}

/* Flight: takes and claims one slot; 0 if writers that this one interrupted hold all it met. */
static __always_inline u64 flight_take(struct ring_header *ring, struct lane *lane)
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
			lane->counters.lost[LOST_OVERWRITTEN]++;
		if (claim >= CLAIM_FRESH)
			return position;
	}
	return 0;
}

static __always_inline u64 event_reserve(struct ring_header *ring, struct lane *lane)
{
	u64 position;

	if (config.flight) {
		position = flight_take(ring, lane);
		if (!position)
			lane->counters.lost[LOST_RING_BUSY]++;
	} else {
		position = ring_take(ring, config.ring_slots, 1);
		if (!position)
			lane->counters.lost[LOST_RING_FULL]++;
	}
	return position;
}

struct run {
	struct ring_header *ring;
	struct lane *lane;
	const struct stack *stack;
	u64 position;
	u32 claimed; /* slots, flight only */
	u32 failed;
};

/* Flight: the slots of a run are claimed before anything is written. */
static long run_claim(u32 i, struct run *run)
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
		run->lane->counters.lost[LOST_OVERWRITTEN]++;
	run->claimed = i + 1;
	return 0;
}

/* Slots of a run given up: committed, so that the next lap can claim them. */
static long run_give_up(u32 i, struct run *run)
{
	u32 *commit = ring_slot(run->ring, run->position + i);

	if (commit)
		atomic_store_release(commit, COMMIT_OF(run->position + i) | COMMIT_CONTINUED);
	return 0;
}

static long run_write_slot(u32 i, struct run *run)
{
	u32 *slot = ring_slot(run->ring, run->position + i);
	u32 per_slot = config.slot_size / 4 - 1;
	u32 unit;

	if (!slot)
		return 1;
	for (unit = 0; unit < EVENT_SLOT_SIZE(EVENT_EXTRA_MAX) / 4 - 1 && unit < per_slot; unit++)
		slot[1 + unit] = inline_stack_unit(run->stack, i * per_slot + unit);
	atomic_store_release(slot, COMMIT_OF(run->position + i) | COMMIT_CONTINUED);
	return 0;
}

/* Writes the whole stack behind the event: the position of the run, or 0 if there is no room. */
static __always_inline u64 run_write(struct ring_header *ring, struct lane *lane,
				     const struct stack *stack)
{
	u32 count = ring_run_slots(inline_stack_units(stack), config.slot_size);
	struct run run = {.ring = ring, .lane = lane, .stack = stack};

	if (count > config.ring_slots / 2)
		return 0;
	if (config.flight) {
		run.position = atomic_fetch_add_acq_rel(&ring->head, count);
		bpf_loop(count, run_claim, &run, 0);
		if (run.failed) {
			bpf_loop(run.claimed, run_give_up, &run, 0);
			return 0;
		}
	} else {
		run.position = ring_take(ring, config.ring_slots, count);
		if (!run.position)
			return 0;
	}
	bpf_loop(count, run_write_slot, &run, 0);
	return run.position;
}

static __always_inline void *table_current(void)
{
	u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&tables, &zero);

	return inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
}

/* From raw frames in *stack (depth and flags set) to the event's field. */
static __always_inline struct stack_field stack_store(struct ring_header *ring, struct lane *lane,
						      struct stack *stack, u32 cpu)
{
	void *table;
	u64 position;

	if (!stack_pack(stack))
		return (struct stack_field){REASON_NO_FRAMES, STATE_NONE};
	table = config.no_dedup ? NULL : table_current();
	if (table) {
		s64 id = stack_map_get_id(table, (const void *)&geometry, cpu, stack);

		if (id > 0)
			return (struct stack_field){id, STATE_ID};
	}
	position = run_write(ring, lane, stack);
	if (position)
		return (struct stack_field){position, STATE_INLINE};
	return (struct stack_field){REASON_NO_ROOM, STATE_NONE};
}

/* The most frames bpf_get_stack() gives after skipping some: at the limit a stack may have been
 * cut. */
static __always_inline u32 depth_limit(u32 skip)
{
	u32 limit = config.max_depth - skip;

	return limit < STACK_KERNEL_DEPTH_MAX ? limit : STACK_KERNEL_DEPTH_MAX;
}

static __always_inline struct stack_field kernel_field(void *ctx, struct ring_header *ring,
						       struct lane *lane, u32 cpu, u32 skip)
{
	struct stack *stack = &lane->kernel;
	struct stack_field field = {REASON_NOT_ASKED, STATE_NONE};
	long bytes;

	if (!config.kernel_stacks)
		return field;
	bytes = bpf_get_stack(ctx, stack->word, STACK_KERNEL_DEPTH_MAX * 8, skip);
	if (bytes > 0) {
		stack->depth = (u32)bytes / 8;
		stack->flags = stack->depth >= depth_limit(skip) ? STACK_TRUNCATED : 0;
		if (skip == SKIP_RAW_TRACEPOINT)
			kernel_stack_drop_tracer(lane);
		field = stack_store(ring, lane, stack, cpu);
	} else {
		field.value = bytes == 0 || bytes == -EFAULT ? REASON_NO_FRAMES : REASON_UNREADABLE;
	}
	return field;
}

/* leaf, if not NULL: the sampled user pc, which becomes a frame of its own. */
static __always_inline struct stack_field user_field(void *ctx, struct ring_header *ring,
						     struct lane *lane, u32 cpu, u64 *leaf)
{
	struct stack *stack = &lane->user;
	struct stack_field field = {REASON_NOT_ASKED, STATE_NONE};
	u32 skip = leaf ? 1 : 0;
	bool has_memory = address_space_enter(lane);

	if (leaf)
		*leaf = has_memory ? user_frame(lane, *leaf) : 0;
	if (!config.user_stacks)
		return field;
	field.value = REASON_NO_FRAMES;
	if (!has_memory || !user_stack_convert(lane, user_stack_take(ctx, lane, skip)))
		return field;
	stack->flags = STACK_USER | (stack->depth >= depth_limit(skip) ? STACK_TRUNCATED : 0);
	return stack_store(ring, lane, stack, cpu);
}

/* What a sample was taken at: the leaf goes into the event, its callers into the map. */
struct sample {
	u64 pc;
	bool is_kernel;
};

static __always_inline void event_write(void *ctx, struct ring_header *ring, struct lane *lane,
					u32 cpu, u64 position, u32 kind, u32 skip,
					const struct sample *sample)
{
	struct event_slot *slot = (void *)ring_slot(ring, position);
	struct stack_field kernel, user;
	u64 time = bpf_ktime_get_ns();
	u64 leaf = sample ? sample->pc : 0;
	bool user_leaf = sample && !sample->is_kernel;

	if (!slot)
		return;
	kernel = kernel_field(ctx, ring, lane, cpu, skip + (sample && sample->is_kernel));
	user = user_field(ctx, ring, lane, cpu, user_leaf ? &leaf : NULL);
	slot->tid = bpf_get_current_pid_tgid();
	slot->stamp = STAMP_OF(time, kind, EVENT_FLAGS(kernel.state, user.state));
	slot->kernel = kernel.value;
	slot->user = user.value;
	if (config.leaf)
		slot->extra[0] = leaf;
	atomic_store_release(&slot->commit, COMMIT_OF(position));
}

static __always_inline int event_emit(void *ctx, u32 kind, u32 skip, const struct sample *sample)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct ring_header *ring;
	struct lane *lane;
	u64 position;

	if (!event_wanted(cpu))
		return 0;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	lane = lane_claim(cpu);
	if (!ring || !lane)
		return 0;
	lane->counters.produced++;
	if (paused) {
		lane->counters.lost[LOST_PAUSED]++;
	} else {
		position = event_reserve(ring, lane);
		if (position)
			event_write(ctx, ring, lane, cpu, position, kind, skip, sample);
	}
	lane_release(lane);
	return 0;
}

#endif
