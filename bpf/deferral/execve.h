/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events inside execve: the task keeps its registers for a while after its memory has become
 * another program's, and has that program's registers before it runs it. All of them are of the
 * stack from which execve was called. It is taken at sched_prepare_exec, when that memory is still
 * there, and its cookie is kept under the task's address, since a thread that execs takes its
 * leader's id on the way.
 */
#ifndef BPF_EXECVE_H
#define BPF_EXECVE_H

#include <asm/unistd.h>

#include "cookie.h"
#include "deferral.h"
#include "stack/stack_field.h"
#include "state/map.h"

HASH_MAP(execve_calls, TASKS_MAX, u64, struct execve_call); /* by struct task_struct * */

/* Of the tracepoint, which is there since 6.10. */
struct trace_event_raw_sched_prepare_exec {
	u32 pid;
} __attribute__((preserve_access_index));

/* The old program's memory is about to go: events from here on have this cookie. */
static __always_inline void execve_enter(u32 cookie)
{
	u64 task = bpf_get_current_task();
	struct execve_call call = {.cookie = cookie};

	bpf_map_update_elem(&execve_calls, &task, &call, BPF_ANY);
}

/* The new program is in place. What follows in this call still has the cookie, later calls have
 * not. */
static __always_inline void execve_finish(void)
{
	u64 task = bpf_get_current_task();
	struct execve_call *call = bpf_map_lookup_elem(&execve_calls, &task);

	if (!call)
		return;
	call->start = current_regs()->ip;
	call->is_done = 1;
}

static __always_inline void execve_forget(void)
{
	u64 task = bpf_get_current_task();

	bpf_map_delete_elem(&execve_calls, &task);
}

/* It has the registers with which the new program begins. */
static __always_inline bool is_new_program(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	return mm && current_regs()->sp == BPF_CORE_READ(mm, start_stack);
}

/* On the way out of the call the kernel has forgotten it, but the new program has not run. */
static __always_inline bool is_leaving_execve(void)
{
	u64 number = current_regs()->orig_ax;

	return (number == __NR_execve || number == __NR_execveat) && is_new_program();
}

static __always_inline bool is_in_execve(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return BPF_CORE_READ_BITFIELD(task, in_execve) || is_leaving_execve();
}

static __always_inline bool is_of_this_call(const struct execve_call *call)
{
	return !call->is_done || (is_new_program() && current_regs()->ip == call->start);
}

/* The user stack of an event inside execve where the old program is not all there any more, as a
 * STACK_FIELD_WORD(); else 0. A function of its own for its stack. */
__noinline u64 execve_field(void)
{
	u64 task = bpf_get_current_task();
	struct execve_call *call;

	if (!is_in_execve())
		return 0;
	call = bpf_map_lookup_elem(&execve_calls, &task);
	if (call && is_of_this_call(call))
		return STACK_FIELD_WORD(call->cookie, STATE_COOKIE);
	if (bpf_core_type_exists(struct trace_event_raw_sched_prepare_exec) && !is_new_program())
		return 0;
	return STACK_FIELD_WORD(REASON_CHANGED, STATE_NONE);
}

#endif
