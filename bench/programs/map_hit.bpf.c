/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of one event's stack in the kernel: rounds of bpf_get_stack alone, of bpf_get_stack and
 * a stack-map hit, and of bpf_get_stackid on BPF_MAP_TYPE_STACK_TRACE. Each program runs its
 * subject ROUND times on its own kernel stack, which is the same at every turn, and stores the time
 * of the round. With MAP_HIT_JHASH the stack map hashes by jhash.
 */
#include <linux/bpf.h>

#ifdef MAP_HIT_JHASH
#include "map_hit_jhash.h"
#else
#include "stack_hash.c"
#endif
#include "stack_element.c"
#include "stack_map.c"
#include "stack_pack.c"

#include "map_hit.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct table_geometry geometry = {};
struct map_hit_control control;

struct round {
	void *ctx;
	void *table;
	struct stack *stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, 4);
	__uint(value_size, 8);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, 4);
	__uint(value_size, 127 * 8);
} stack_trace SEC(".maps");

static __always_inline void take_stack(struct round *round)
{
	long bytes = bpf_get_stack(round->ctx, round->stack->word, 8 * MAP_HIT_DEPTH, 0);

	if (bytes != 8 * MAP_HIT_DEPTH)
		control.failures++;
	round->stack->depth = MAP_HIT_DEPTH;
	round->stack->flags = 0;
}

static long only_stack(u32 i, void *arg)
{
	take_stack(arg);
	return 0;
}

static long stack_and_hit(u32 i, void *arg)
{
	struct round *round = arg;

	take_stack(round);
	stack_pack(round->stack);
	if (stack_map_get_id(round->table, &geometry, bpf_get_smp_processor_id(), round->stack) <=
	    0)
		control.failures++;
	return 0;
}

static long kernel_stackid(u32 i, void *arg)
{
	struct round *round = arg;

	if (bpf_get_stackid(round->ctx, &stack_trace, 0) < 0)
		control.failures++;
	return 0;
}

/* The kernel stack of a sent signal has more than ten frames, and any process may send signals to
 * itself. */
SEC("raw_tp/signal_generate")
int on_signal(void *ctx)
{
	struct round round = {.ctx = ctx};
	u32 zero = 0;
	u64 start;

	if (bpf_get_current_pid_tgid() >> 32 != control.tgid)
		return 0;
	round.table = bpf_map_lookup_elem(&table, &zero);
	round.stack = bpf_map_lookup_elem(&scratch, &zero);
	if (!round.table || !round.stack)
		return 0;
	start = bpf_ktime_get_ns();
	if (control.subject == MAP_HIT_STACK)
		bpf_loop(MAP_HIT_ROUND, only_stack, &round, 0);
	else if (control.subject == MAP_HIT_MAP)
		bpf_loop(MAP_HIT_ROUND, stack_and_hit, &round, 0);
	else if (control.subject == MAP_HIT_STACKID)
		bpf_loop(MAP_HIT_ROUND, kernel_stackid, &round, 0);
	else
		return 0;
	control.elapsed_ns = bpf_ktime_get_ns() - start;
	return 0;
}
