/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A task that waits for its stack is about to lose its memory: it exits, or begins another program.
 * If the stack can be walked without a fault, it is delivered to its cookie.
 */
#ifndef BPF_LEAVE_H
#define BPF_LEAVE_H

#include "execve.h"
#include "mapping/build_id.h"
#include "request.h"
#include "stack/direct_stack.h"
#include "state/task_ids.h"

/*
 * Delivers the stack of a task that exits or begins execve, by a walk that may not fault. A stack
 * that this walk cannot finish is saved for user space.
 */
static __always_inline void unwind_before_leaving(struct scratch *scratch, u32 cpu, u32 tid,
						  u32 cookie)
{
	struct direct_walk *walk = &scratch->direct;
	u64 leaf;

	if (!set_search_to_current_address_space(&scratch->search)) {
		deferred_stack_send_reason(scratch, cpu, tid, cookie, REASON_REFUSED);
		return;
	}
	walk->is_compat = registers_of_current(&walk->registers);
	direct_stack_walk(scratch, cpu, config.max_user_depth, config.leaf);
	if (walk->is_final) {
		leaf = deferred_stack_replace_loop_frames(scratch);
		deferred_stack_send_stack(scratch, cpu, tid, cookie, leaf);
	} else {
		deferred_stack_send_memory(scratch, cpu, tid, cookie);
	}
	read_noted_build_ids(&scratch->search);
}

/*
 * A global function: verified once for all callers. Weak, or the compiler would not pass arguments
 * that a tool's deferred_stack_*() leaves unused; the verifier wants all arguments.
 */
__weak __noinline int serve_request_of_leaving_task(u32 tid, u32 cookie)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = scratch_claim(cpu);

	if (!scratch) {
		deferred_stack_report_lost(tid, cookie);
		return 0;
	}
	unwind_before_leaving(scratch, cpu, tid, cookie);
	scratch_release(scratch);
	return 0;
}

/* Delivers the stack of the cookie that the task waits for, if any. */
static __always_inline void serve_request_before_leaving(u32 tid)
{
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	struct engine_task *task = bpf_map_lookup_elem(&engine_tasks, &tid);
	u32 cookie = begin_pending_delivery(deferral);

	if (!cookie)
		return;
	serve_request_of_leaving_task(tid, cookie);
	deferred_stack_end_delivery(deferral, task, cookie);
}

/*
 * Called when a task exits, or begins execve: one piece of code serves both, since each instruction
 * costs time at the start of a recording.
 *
 * Requests of the old program's stack come too late from execve on, until execve is over: they all
 * get one cookie, whose stack is delivered here. A thread that calls execve gets the id of its
 * process meanwhile: its events have one id or the other, and no task will exit under the thread's
 * own id.
 */
static __always_inline void deliver_stack_at_exit_or_exec(bool is_exit)
{
	u64 pid_tgid = current_pid_and_tid();
	u32 tid = pid_tgid, leader = pid_tgid >> 32, cookie = 0;

	if (records_ids_of_inner_pid_namespace() && !tid) {
		execve_delete_record();
		return;
	}
	if (!is_exit) {
		cookie = cookie_new() | COOKIE_LASTING;
		execve_record_begin(cookie);
	}
	serve_request_before_leaving(tid);
	if (!is_exit) {
		serve_request_of_leaving_task(tid, cookie);
		if (tid != leader)
			serve_request_of_leaving_task(leader, cookie);
	}
	if (is_exit || tid != leader)
		delete_deferral_state_of_task(tid);
	if (is_exit)
		execve_delete_record();
}

#endif
