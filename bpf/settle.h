/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of tasks that are still asleep in the kernel when an instance ends: the recorder runs
 * this program for each (abi/deferral.h), looks, reads what it needs out of the living process, and
 * takes the cookie. If that can be taken, the task has not left the kernel meanwhile, so what was
 * read is its stack.
 */
#ifndef BPF_SETTLE_H
#define BPF_SETTLE_H

#include "raw_stack_send.h"
#include "request.h"

/* Absent before 6.2, where nothing is deferred. */
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/*
 * Whether a task's registers or memory are no more those of its request: rt_sigreturn writes the
 * former under a reader's eyes, so they are compared when the cookie is taken, too; execve replaces
 * the latter first.
 */
static __always_inline bool is_leaving(struct task_struct *task, const struct kernel_entry *entry)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);

	return BPF_CORE_READ_BITFIELD_PROBED(task, in_execve) || regs->ip != entry->ip ||
	       regs->sp != entry->sp || regs->orig_ax != entry->orig_ax;
}

static __always_inline s32 settle_send(struct lane *lane, struct task_struct *task, u32 cookie)
{
	struct raw_request request = {
		.tid = task->pid,
		.tgid = task->tgid,
		.cookie = cookie,
		.flags = RAW_ALIVE,
	};

	if (!address_space_of(&lane->search, task))
		return -ENOENT;
	return raw_stack_send(lane, &request, (void *)bpf_task_pt_regs(task)) ? 0 : -ENOSPC;
}

static __always_inline s32 settle_look(struct task_struct *task, u32 cookie)
{
	struct lane *lane = lane_claim(bpf_get_smp_processor_id());
	s32 result;

	if (!lane)
		return -ENOSPC;
	result = settle_send(lane, task, cookie);
	lane_release(lane);
	return result;
}

static __always_inline s32 settle_task(struct task_struct *task, struct deferral *deferral,
				       const struct settle_request *request)
{
	if (is_leaving(task, &deferral->entry))
		return -EAGAIN;
	if (request->operation == SETTLE_TAKE)
		return deferral_take(deferral, request->cookie);
	return settle_look(task, request->cookie);
}

static __always_inline s32 settle_deferral(struct deferral *deferral,
					   const struct settle_request *request)
{
	u64 pending = DEFERRAL_WORD(request->cookie, DEFERRAL_PENDING);
	struct task_struct *task;
	s32 result;

	if (atomic_load_relaxed(&deferral->word) != pending)
		return -ENOENT;
	task = bpf_task_from_pid(request->tid);
	if (!task)
		return -ENOENT;
	result = settle_task(task, deferral, request);
	bpf_task_release(task);
	return result;
}

SEC("syscall")
int settle(struct settle_request *request)
{
	u32 tid = request->tid;
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	request->result = deferral ? settle_deferral(deferral, request) : -ENOENT;
	return 0;
}

#endif
