/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events inside execve. The task keeps its old registers for a while after its memory has become
 * the new program's, and has the new program's registers before it runs the program. All such
 * events get the stack from which execve was called. That stack is taken at sched_prepare_exec,
 * while the old memory is still there. Its cookie is kept under the task's address, since a thread
 * that calls execve takes over its leader's id meanwhile.
 */
#ifndef BPF_EXECVE_H
#define BPF_EXECVE_H

#include <asm/unistd.h>

#include "cookie.h"
#include "deferral.h"
#include "stack/stack_field.h"
#include "state/map.h"

HASH_MAP(execve_calls, TASKS_MAX, u64, struct execve_call); /* key: address of the task_struct */

/* The record of the tracepoint sched_prepare_exec, which exists since 6.10. */
struct trace_event_raw_sched_prepare_exec {
	u32 pid;
} __attribute__((preserve_access_index));

/* Called before the memory of the old program is freed: later events of this execve have this
 * cookie. */
static __always_inline void execve_record_begin(u32 cookie)
{
	u64 task = bpf_get_current_task();
	struct execve_call call = {.cookie = cookie};

	bpf_map_update_elem(&execve_calls, &task, &call, BPF_ANY);
}

/*
 * Called when the new program is in place. Later events of this execve still have the cookie;
 * events of later system calls do not.
 */
static __always_inline void execve_record_end(void)
{
	u64 task = bpf_get_current_task();
	struct execve_call *call = bpf_map_lookup_elem(&execve_calls, &task);

	if (!call)
		return;
	call->start = regs_pc(current_pt_regs());
	call->is_done = 1;
}

static __always_inline void execve_delete_record(void)
{
	u64 task = bpf_get_current_task();

	bpf_map_delete_elem(&execve_calls, &task);
}

/* True if the task has the registers with which the new program begins. */
static __always_inline bool is_new_program(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	return mm && regs_sp(current_pt_regs()) == BPF_CORE_READ(mm, start_stack);
}

/*
 * True on the way out of execve: the kernel has cleared in_execve, but the new program has not run.
 */
static __always_inline bool is_leaving_execve(void)
{
	s64 number = regs_syscall(current_pt_regs());

	return (number == __NR_execve || number == __NR_execveat) && is_new_program();
}

static __always_inline bool is_in_execve(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return BPF_CORE_READ_BITFIELD(task, in_execve) || is_leaving_execve();
}

static __always_inline bool is_execve_in_progress(const struct execve_call *call)
{
	return !call->is_done || (is_new_program() && regs_pc(current_pt_regs()) == call->start);
}

/*
 * The user stack of an event inside execve while the old program is partly gone, as a
 * STACK_FIELD_WORD(); else 0. Not inlined: it has a BPF stack of its own.
 */
__noinline u64 execve_user_stack_field(void)
{
	u64 task = bpf_get_current_task();
	struct execve_call *call;

	if (!is_in_execve())
		return 0;
	call = bpf_map_lookup_elem(&execve_calls, &task);
	if (call && is_execve_in_progress(call))
		return STACK_FIELD_WORD(call->cookie, STATE_COOKIE);
	if (bpf_core_type_exists(struct trace_event_raw_sched_prepare_exec) && !is_new_program())
		return 0;
	return STACK_FIELD_WORD(REASON_CHANGED, STATE_NONE);
}

#endif
