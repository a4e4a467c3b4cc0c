/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of tasks that are still asleep in the kernel when an instance ends: the recorder runs
 * this program for each (abi/deferral.h), looks, reads what it needs out of the living process, and
 * takes the cookie. If it can be taken, the task has not left the kernel meanwhile, so what was
 * read is its stack.
 */
#ifndef BPF_SETTLE_H
#define BPF_SETTLE_H

#include "raw_stack_send.h"
#include "request.h"

/* Absent before 6.2, where nothing is deferred. */
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

static __always_inline bool is_at_entry(struct task_struct *task, const struct kernel_entry *entry)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);

	return regs->ip == entry->ip && regs->sp == entry->sp && regs->orig_ax == entry->orig_ax;
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

static __always_inline s32 settle_save(struct task_struct *task, const struct deferral *deferral,
				       u32 cookie)
{
	struct lane *lane;
	s32 result;

	if (!is_at_entry(task, &deferral->entry))
		return -EAGAIN;
	lane = lane_claim(bpf_get_smp_processor_id());
	if (!lane)
		return -ENOSPC;
	result = settle_send(lane, task, cookie);
	lane_release(lane);
	return result;
}

static __always_inline s32 settle_look(const struct deferral *deferral, u32 tid, u32 cookie)
{
	struct task_struct *task;
	s32 result;

	if (atomic_load_relaxed(&deferral->word) != DEFERRAL_WORD(cookie, DEFERRAL_PENDING))
		return -ENOENT;
	task = bpf_task_from_pid(tid);
	if (!task)
		return -ENOENT;
	result = settle_save(task, deferral, cookie);
	bpf_task_release(task);
	return result;
}

static __always_inline s32 settle_take(struct deferral *deferral, u32 cookie)
{
	u64 pending = DEFERRAL_WORD(cookie, DEFERRAL_PENDING);
	u64 idle = DEFERRAL_WORD(cookie, DEFERRAL_IDLE);

	return atomic_cas_acq_rel(&deferral->word, pending, idle) == pending ? 0 : -ENOENT;
}

SEC("syscall")
int settle(struct settle_request *request)
{
	u32 tid = request->tid, cookie = request->cookie;
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	if (!deferral)
		request->result = -ENOENT;
	else if (request->operation == SETTLE_TAKE)
		request->result = settle_take(deferral, cookie);
	else
		request->result = settle_look(deferral, tid, cookie);
	return 0;
}

#endif
