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
#include "request.h"
#include "stack_store.h"
#include "tracer_frames.h"
#include "user_stack.h"

/* Frames of the program and of what called it; a raw tracepoint's glue may add some
 * (tracer_frames.h). */
#define SKIP_RAW_TRACEPOINT 2
#define SKIP_TRAMPOLINE 2

/* How an event came about. */
struct hit {
	u32 kind;
	u32 skip;	/* frames of the tracer on the kernel stack */
	bool is_sample; /* its pc is the event's leaf, and the stacks begin at the caller */
	u64 kernel_pc;	/* of a sample in kernel mode; else 0 */
	struct user_walk
		user; /* user mode as it was interrupted; pc = 0: the task is in the kernel */
};

/* The most frames bpf_get_stack() gives after skipping some: at the limit a stack may have been
 * cut. */
static __always_inline u32 depth_limit(u32 skip)
{
	u32 limit = config.max_depth - skip;

	return limit < STACK_KERNEL_DEPTH_MAX ? limit : STACK_KERNEL_DEPTH_MAX;
}

static __always_inline struct stack_field kernel_field(void *ctx, const struct hit *hit,
						       struct ring_header *ring, struct lane *lane,
						       u32 cpu)
{
	struct stack *stack = &lane->kernel;
	u32 skip = hit->skip + (hit->kernel_pc != 0);
	long bytes;

	if (!config.kernel_stacks)
		return no_stack(REASON_NOT_ASKED);
	bytes = bpf_get_stack(ctx, stack->word, STACK_KERNEL_DEPTH_MAX * 8, skip);
	if (bytes == 0 || bytes == -EFAULT)
		return no_stack(REASON_NO_FRAMES);
	if (bytes < 0)
		return no_stack(REASON_UNREADABLE);
	stack->depth = (u32)bytes / 8;
	stack->flags = stack->depth >= depth_limit(skip) ? STACK_TRUNCATED : 0;
	if (hit->skip == SKIP_RAW_TRACEPOINT)
		kernel_stack_drop_tracer(lane);
	return stack_store(ring, lane, stack, cpu);
}

/* Begins lane->walk at the task's user registers. False: it has no user mode. */
static __always_inline bool walk_begin(const struct hit *hit, struct lane *lane)
{
	if (!address_space_enter(&lane->search))
		return false;
	if (hit->user.pc)
		lane->walk = hit->user;
	else
		walk_from_task(&lane->walk);
	return true;
}

/* The sampled pc as a frame. In user mode the walk goes on to the caller. */
static __always_inline u64 leaf_take(const struct hit *hit, struct lane *lane, bool has_user)
{
	u64 leaf;

	if (hit->kernel_pc || !has_user)
		return hit->kernel_pc;
	leaf = user_frame(lane, lane->walk.pc);
	fp_walk_advance(&lane->walk);
	return leaf;
}

static __always_inline struct stack_field user_field(struct ring_header *ring, struct lane *lane,
						     u32 cpu, bool has_user)
{
	if (!config.user_stacks)
		return no_stack(REASON_NOT_ASKED);
	if (!has_user)
		return no_stack(REASON_REFUSED);
	if (config.user_unwind == USER_UNWIND_AUTO)
		return user_request(ring, lane);
	user_stack_walk(lane);
	return stack_store(ring, lane, &lane->user, cpu);
}

static __always_inline void event_write(void *ctx, const struct hit *hit, struct ring_header *ring,
					struct lane *lane, u32 cpu, u64 position)
{
	struct event_slot *slot = (void *)ring_slot(ring, position);
	u64 time = bpf_ktime_get_ns(), leaf = 0;
	struct stack_field kernel, user;
	bool has_user = false;

	if (!slot)
		return;
	kernel = kernel_field(ctx, hit, ring, lane, cpu);
	if (config.user_stacks || hit->is_sample)
		has_user = walk_begin(hit, lane);
	if (hit->is_sample)
		leaf = leaf_take(hit, lane, has_user);
	user = user_field(ring, lane, cpu, has_user);
	slot->tid = bpf_get_current_pid_tgid();
	slot->stamp = STAMP_OF(time, hit->kind, EVENT_FLAGS(kernel.state, user.state));
	slot->kernel = kernel.value;
	slot->user = user.value;
	if (config.leaf)
		slot->extra[0] = leaf;
	atomic_store_release(&slot->commit, COMMIT_OF(position));
}

static __always_inline int event_emit(void *ctx, const struct hit *hit)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct ring_header *ring;
	struct lane *lane;
	u64 position;

	if (!event_wanted(cpu))
		return 0;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	lane = ring ? lane_claim(cpu) : NULL;
	if (!lane)
		return 0;
	if (paused) {
		lane->counters.lost[LOST_PAUSED]++;
	} else {
		lane->counters.produced++;
		position = event_reserve(ring, lane);
		if (position)
			event_write(ctx, hit, ring, lane, cpu, position);
	}
	lane_release(lane);
	return 0;
}

#endif
