/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks that wait since before the recording. An iterator visits all tasks once, when the programs
 * of events are attached. The filters are applied to a task that is not the current one, and the
 * iterator's program requests the user stack of that task: the request is made as the task itself
 * would make it, with the registers with which the task has entered the kernel, and the kernel
 * calls back in the task when the task returns to user mode. A task that stays asleep is unwound
 * from outside at the end (bpf/deferral/unwind_blocked.h), like any other.
 *
 * The task may wake up meanwhile. A request is only made if the task has none, and the callback
 * compares the registers: another entry into the kernel makes the stack REASON_CHANGED.
 *
 * Each iterator has two programs. Only the one for kernels that call back asks for callbacks, so
 * only this one contains the unwinder. Other kernels would never make these calls, but Linux 6.1
 * refuses a program for their depth.
 */
#ifndef BPF_SINCE_BEFORE_H
#define BPF_SINCE_BEFORE_H

#include "deferral/deliver.h"
#include "filter.h"
#include "stack/stack_field.h"
#include "thread_count.h"

struct cgroup_walk {
	const struct cgroup *cgroup;
	u32 found;
};

static long cgroup_or_parent_matches(u32 level, struct cgroup_walk *walk)
{
	u32 offset = bpf_core_field_offset(struct cgroup, self);
	const struct cgroup *cgroup = walk->cgroup;
	const void *parent;

	if (!cgroup)
		return 1;
	walk->found = BPF_CORE_READ(cgroup, kn, id) == config.cgroup;
	parent = BPF_CORE_READ(cgroup, self.parent);
	walk->cgroup = parent ? parent - offset : NULL;
	return walk->found;
}

static __always_inline bool task_cgroup_matches_filter(const struct task_struct *task)
{
	struct cgroup_walk walk = {};

	if (!bpf_core_field_exists(task->cgroups))
		return false;
	walk.cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	bpf_loop(CGROUP_LEVELS_MAX, cgroup_or_parent_matches, &walk, 0);
	return walk.found;
}

/* current_thread_passes_filters() for any task, also one that is not the current one. */
static __always_inline bool task_passes_filters(const struct task_struct *task)
{
	u32 tid = tid_of_typed_task(task), tgid = tgid_of_typed_task(task);

	if (is_own_process(tgid))
		return false;
	if (!is_thread_followed(tid))
		return false;
	if (config.by_comm && !task_comm_matches_filter(task))
		return false;
	return !config.cgroup || task_cgroup_matches_filter(task);
}

/*
 * The stack field of a request that the task has made itself: the cookie, if the task is still in
 * the entry into the kernel in which it made the request; else REASON_NO_STATE.
 */
static __always_inline u64 requested_stack_field(const struct deferral *deferral,
						 const struct kernel_entry *entry)
{
	u64 word = atomic_load_relaxed(&deferral->word);

	if (DEFERRAL_STATE(word) == DEFERRAL_PENDING &&
	    is_same_kernel_entry(&deferral->entry, entry))
		return STACK_FIELD_WORD(DEFERRAL_COOKIE(word), STATE_COOKIE);
	return STACK_FIELD_WORD(REASON_NO_STATE, STATE_NONE);
}

static __always_inline u64 request_stack_of_task(struct task_struct *task, u32 tid,
						 struct deferral *asked)
{
	u32 cookie = cookie_new();
	struct deferral_work *work;
	int error;

	asked->word = DEFERRAL_WORD(cookie, DEFERRAL_PENDING);
	if (!cookie || bpf_map_update_elem(&deferrals, &tid, asked, BPF_NOEXIST))
		return STACK_FIELD_WORD(REASON_NO_STATE, STATE_NONE);
	work = deferral_work_find_or_add(tid, 0);
	error = work ? task_work_schedule_in(task, &work->work, &works, on_task_resume) : -ENOMEM;
	if (error && error != -EBUSY)
		bpf_map_delete_elem(&deferrals, &tid);
	return error && error != -EBUSY ? STACK_FIELD_WORD(REASON_NO_STATE, STATE_NONE)
					: STACK_FIELD_WORD(cookie, STATE_COOKIE);
}

/* The user stack of a task that waits, as a STACK_FIELD_WORD(). */
static __always_inline u64 user_stack_of_waiting_task(struct task_struct *task, bool asks)
{
	struct deferral asked = {.kernel_tid = task->pid}, *own;
	struct pt_regs___kernel *regs;
	u32 tid = tid_of_typed_task(task);

	if (!config.user_stacks)
		return STACK_FIELD_WORD(REASON_NOT_ASKED, STATE_NONE);
	if (!task->mm)
		return STACK_FIELD_WORD(REASON_REFUSED, STATE_NONE);
	if (!asks || config.user_unwind != USER_UNWIND_AUTO ||
	    config.deferral != DEFERRAL_TASK_WORK || task->flags & PF_EXITING)
		return STACK_FIELD_WORD(REASON_BEFORE, STATE_NONE);
	regs = (void *)bpf_task_pt_regs(task);
	asked.entry = (struct kernel_entry){
		.ip = regs_pc(regs), .sp = regs_sp(regs), .syscall = regs_syscall(regs)};
	own = bpf_map_lookup_elem(&deferrals, &tid);
	return own ? requested_stack_field(own, &asked.entry)
		   : request_stack_of_task(task, tid, &asked);
}

static __always_inline bool is_on_cpu(const struct task_struct *task)
{
	const struct task_struct___byte *byte = (const void *)task;

	return bpf_core_field_size(task->on_cpu) == sizeof(byte->on_cpu) ? byte->on_cpu
									 : task->on_cpu;
}

/* number of recorded waits that began before the recording */
u64 waits_before;

#endif
