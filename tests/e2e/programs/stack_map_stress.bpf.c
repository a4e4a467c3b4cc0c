/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inserts numbered stacks from the system calls of several processes and from a timer that
 * interrupts them, and counts the results of get_id for each stack.
 */
#include <linux/bpf.h>
#include <linux/errno.h>

/* Mask of the hash bits that the loader keeps. */
const volatile unsigned long hash_keep = ~0UL;
#define STACK_HASH_KEEP hash_keep

#include "stack_element.c"
#include "stack_hash.c"
#include "stack_map.c"
#include "stack_map_stress.h"
#include "stack_pack.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct table_geometry geometry = {};
struct stress_control control;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, 4);
	__uint(value_size, 8);
} table SEC(".maps");

/* First one element for each process, as the system calls of a process do not overlap, then one for
 * each CPU's timer. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STRESS_PROCESSES + STRESS_CPUS_MAX);
	__type(key, u32);
	__type(value, struct stack);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STRESS_UNIVERSE_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct stress_tally);
} tallies SEC(".maps");

struct batch {
	void *table;
	struct stack *stack;
	u32 universe;
};

/* Global, so that its loop is verified once. */
__noinline int stack_make(struct stack *stack, u32 n)
{
	if (!stack)
		return -EINVAL;
	for (u32 i = 0; i < STRESS_DEPTH(n); i++) {
		core_one_register(i); /* keeps the compiler from joining the two bounds into one
					 that the verifier cannot follow */
		if (i >= STRESS_DEPTH_MAX)
			break;
		stack->word[i] = STRESS_FRAME(n, i);
	}
	stack->depth = STRESS_DEPTH(n);
	stack->flags = 0;
	return 0;
}

static __always_inline void tally(u32 n, s64 id)
{
	struct stress_tally *tally = bpf_map_lookup_elem(&tallies, &n);
	s64 first;

	if (!tally)
		return;
	if (id <= 0) {
		if (id != -ENOSPC)
			__sync_fetch_and_add(&control.failures, 1);
		__sync_fetch_and_add(&tally->drops, 1);
		return;
	}
	__sync_fetch_and_add(&tally->refs, 1);
	first = __sync_val_compare_and_swap(&tally->id, 0, id);
	if (first && first != id)
		__sync_fetch_and_add(&control.failures, 1);
}

static long insert(u32 i, void *arg)
{
	struct batch *batch = arg;
	u32 n = __sync_fetch_and_add(&control.turn, 1) / STRESS_PROCESSES % batch->universe;

	stack_make(batch->stack, n);
	stack_pack(batch->stack);
	__sync_fetch_and_add(&control.calls, 1);
	tally(n,
	      stack_map_get_id(batch->table, &geometry, bpf_get_smp_processor_id(), batch->stack));
	return 0;
}

static __always_inline int insert_batch(u32 scratch_index)
{
	struct batch batch = {.universe = control.universe};
	u32 zero = 0;

	batch.table = bpf_map_lookup_elem(&table, &zero);
	batch.stack = bpf_map_lookup_elem(&scratch, &scratch_index);
	if (batch.table && batch.stack && batch.universe)
		bpf_loop(STRESS_BATCH, insert, &batch, 0);
	return 0;
}

SEC("raw_tp/sys_enter")
int on_syscall(void *ctx)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;

	for (u32 i = 0; i < STRESS_PROCESSES; i++)
		if (control.pids[i] == pid)
			return insert_batch(i);
	return 0;
}

SEC("perf_event")
int on_timer(void *ctx)
{
	__sync_fetch_and_add(&control.timer_runs, 1);
	return insert_batch(STRESS_PROCESSES + bpf_get_smp_processor_id());
}
