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
 * Unwinds in this context, which may not fault. A stack that this walk cannot finish is saved for
 * user space.
 */
static __always_inline void leave_unwind(struct scratch *scratch, u32 cpu, u32 tid, u32 cookie)
{
	struct direct_walk *walk = &scratch->direct;
	u64 leaf;

	if (!address_space_enter(&scratch->search)) {
		deferred_stack_refuse(scratch, cpu, tid, cookie, REASON_REFUSED);
		return;
	}
	walk->is_compat = registers_of_current(&walk->registers);
	direct_stack_walk(scratch, cpu, config.max_user_depth, config.leaf);
	if (walk->is_final) {
		leaf = deferred_stack_join_scripts(scratch);
		deferred_stack_put(scratch, cpu, tid, cookie, leaf);
	} else {
		deferred_stack_unfinished(scratch, cpu, tid, cookie);
	}
	build_ids_take(&scratch->search);
}

/*
 * A global function: verified once for all callers. Weak, or the compiler would not pass arguments
 * that a tool's deferred_stack_*() leaves unused; the verifier wants all arguments.
 */
__weak __noinline int leave_serve(u32 tid, u32 cookie)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = scratch_claim(cpu);

	if (!scratch) {
		deferred_stack_drop(tid, cookie);
		return 0;
	}
	leave_unwind(scratch, cpu, tid, cookie);
	scratch_release(scratch);
	return 0;
}

/* Delivers the stack of the cookie that the task waits for, if any. */
static __always_inline void leave_pending(u32 tid)
{
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	struct engine_task *task = bpf_map_lookup_elem(&engine_tasks, &tid);
	u32 cookie = pending_begin(deferral);

	if (!cookie)
		return;
	leave_serve(tid, cookie);
	deferred_stack_close(deferral, task, cookie);
}

static __always_inline void leave_exit(void)
{
	u32 tid = current_tid();

	if (tid || !in_pid_namespace()) {
		leave_pending(tid);
		requests_forget(tid);
	}
	execve_forget();
}

/*
 * Requests of this stack from now on come too late, until execve is over: they all get one cookie,
 * which has its stack already. A thread that calls execve gets its leader's id meanwhile: its
 * events have one id or the other, and no task will exit under the thread's own.
 */
static __always_inline void leave_exec(void)
{
	u64 pid_tgid = current_ids();
	u32 tid = pid_tgid, leader = pid_tgid >> 32, cookie = cookie_new() | COOKIE_LASTING;

	execve_enter(cookie);
	leave_pending(tid);
	leave_serve(tid, cookie);
	if (tid != leader) {
		leave_serve(leader, cookie);
		requests_forget(tid);
	}
}

#endif
