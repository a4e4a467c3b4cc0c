/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the user stacks from which a process calls write(2), without a single event leaving the
 * kernel: each call asks for its stack, each answer adds to its id.
 */
#include <stackmap/bpf.h>

#include <asm/unistd.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 process = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, u32); /* stack id */
	__type(value, u64);
} counts SEC(".maps");

__u64 calls;	     /* number of calls of write() */
__u64 without_stack; /* number of calls whose stack could not be taken */

static void stackmap_answer(u32 tid, u32 cookie, struct stack *stack, u32 reason)
{
	s64 result = stack ? stackmap_get_id(stack) : 0;
	u32 id = result > 0 ? result : 0;
	u64 one = 1, *count = bpf_map_lookup_elem(&counts, &id);

	if (count)
		__sync_fetch_and_add(count, 1);
	else if (!id || bpf_map_update_elem(&counts, &id, &one, BPF_NOEXIST))
		__sync_fetch_and_add(&without_stack, 1);
}

SEC("raw_tp/sys_enter")
int on_syscall(struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[1] != __NR_write || bpf_get_current_pid_tgid() >> 32 != process)
		return 0;
	__sync_fetch_and_add(&calls, 1);
	if (stackmap_request() < 0)
		__sync_fetch_and_add(&without_stack, 1);
	return 0;
}
