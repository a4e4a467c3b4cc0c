/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A tool that requests stacks of the current task. */
#include <stackmap/bpf.h>

#include "test_client.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct client_answer answer;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack);
} stacks SEC(".maps");

static void stackmap_answer(u32 tid, u32 cookie, struct stack *stack, u32 reason)
{
	answer.count++;
	answer.tid = tid;
	answer.cookie = cookie;
	answer.reason = reason;
	answer.id = stack ? stackmap_get_id(stack) : 0;
}

static __always_inline void unwind_here(struct client_question *question)
{
	u32 zero = 0;
	struct stack *stack = bpf_map_lookup_elem(&stacks, &zero);

	if (!stack)
		return;
	question->result[0] = stackmap_unwind(stack);
	question->result[2] = stack->flags;
	question->result[1] = stackmap_get_id(stack);
}

SEC("syscall")
int ask(struct client_question *question)
{
	if (question->operation == CLIENT_UNWIND) {
		unwind_here(question);
		return 0;
	}
	question->result[0] = stackmap_request();
	if (question->operation == CLIENT_ASK_TWICE)
		question->result[1] = stackmap_request();
	if (question->operation == CLIENT_ASK_CANCEL) {
		u32 tid = bpf_get_current_pid_tgid();

		question->result[1] = stackmap_cancel(tid);
		question->result[2] = stackmap_cancel(tid);
	}
	return 0;
}
