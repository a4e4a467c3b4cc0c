/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One event: a registered thread calls getppid(). Its user stack goes into the stack map and into
 * BPF_MAP_TYPE_STACK_TRACE; both results are stored under the number of the event.
 *
 * Each thread has its own scratch memory: a program may be preempted, and the next program on the
 * CPU would overwrite memory of the CPU.
 */
#include <linux/bpf.h>

#include "stack_element.c"
#include "stack_hash.c"
#include "stack_map.c"
#include "stack_pack.c"

#include "exactness.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct table_geometry geometry = {};
const volatile s64 getppid_number = 0;
u32 event_of_thread[EXACTNESS_THREADS]; /* number of the thread's next event */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, 4);
	__uint(value_size, 8);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* tid -> thread number */
	__uint(max_entries, EXACTNESS_THREADS);
	__type(key, u32);
	__type(value, u32);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EXACTNESS_THREADS);
	__type(key, u32);
	__type(value, struct stack);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, EXACTNESS_BUCKETS);
	__uint(key_size, 4);
	__uint(value_size, EXACTNESS_DEPTH * 8);
} stack_trace SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EXACTNESS_EVENTS_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct exactness_result);
} results SEC(".maps");

static __always_inline s32 own_id(void *ctx, struct stack *stack)
{
	u32 zero = 0;
	void *memory = bpf_map_lookup_elem(&table, &zero);
	long bytes = bpf_get_stack(ctx, stack->word, 8 * EXACTNESS_DEPTH, BPF_F_USER_STACK);

	if (!memory || bytes <= 0)
		return -1;
	stack->depth = (u32)bytes / 8;
	stack->flags = 0;
	stack_pack(stack);
	return stack_map_get_id(memory, (const void *)&geometry, bpf_get_smp_processor_id(), stack);
}

SEC("raw_tp/sys_enter")
int on_getppid(struct bpf_raw_tracepoint_args *ctx)
{
	u32 tid = bpf_get_current_pid_tgid(), *thread;
	struct exactness_result *result;
	struct stack *stack;

	if ((s64)ctx->args[1] != getppid_number)
		return 0;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread)
		return 0;
	stack = bpf_map_lookup_elem(&scratch, thread);
	result = bpf_map_lookup_elem(&results, &event_of_thread[*thread % EXACTNESS_THREADS]);
	if (!stack || !result)
		return 0;
	result->id = own_id(ctx, stack);
	result->bucket = bpf_get_stackid(ctx, &stack_trace, BPF_F_USER_STACK);
	return 0;
}
