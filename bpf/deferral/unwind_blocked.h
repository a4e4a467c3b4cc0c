/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of tasks that are still asleep in the kernel when a recording ends. The recorder runs
 * this program for each task (abi/raw_stack.h): it peeks, reads the stack's memory out of the
 * living process, and takes the cookie, or checks it if the instance goes on. If the cookie is
 * still pending, the task has not left the kernel meanwhile, and the memory that was read is its
 * stack.
 */
#ifndef BPF_UNWIND_BLOCKED_H
#define BPF_UNWIND_BLOCKED_H

#include "raw_stack.h"
#include "raw_stack_send.h"
#include "request.h"

/* These kfuncs are absent before 6.2. There no stack is deferred to a callback. */
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/*
 * True if the registers or the memory of a task have changed since its request. rt_sigreturn
 * writes the registers while a reader reads them, so the registers are compared again when the
 * cookie is taken. execve replaces the memory before the registers.
 */
static __always_inline bool has_task_changed_since_request(struct task_struct *task,
							   const struct kernel_entry *entry)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);

	return BPF_CORE_READ_BITFIELD_PROBED(task, in_execve) || regs_pc(regs) != entry->ip ||
	       regs_sp(regs) != entry->sp || regs_syscall(regs) != entry->syscall;
}

ARRAY_MAP(blocked_answer, 1, struct unwind_blocked_answer);

/*
 * Copies *raw to the answer. answer->sequence is odd before the first word of the answer changes,
 * and even after the last one has changed.
 */
static __always_inline s32 unwind_blocked_store_answer(struct unwind_blocked_request *request,
						       const struct raw_stack *raw)
{
	u32 zero = 0;
	struct unwind_blocked_answer *answer = bpf_map_lookup_elem(&blocked_answer, &zero);
	u64 before;

	if (!answer || atomic_exchange_acq_rel(&answer->busy, 1))
		return -ENOSPC;
	before = atomic_fetch_add_acq_rel(&answer->sequence, 1);
	bpf_probe_read_kernel(answer->raw, sizeof(answer->raw), raw);
	request->answer = before + 2;
	atomic_fetch_add_acq_rel(&answer->sequence, 1);
	atomic_store_release(&answer->busy, 0);
	return 0;
}

static __always_inline s32 unwind_blocked_make_snapshot(struct scratch *scratch,
							struct raw_buffer *buffer,
							struct task_struct *task,
							struct unwind_blocked_request *request)
{
	const struct raw_request wanted = {
		.tid = request->tid,
		.tgid = tgid_of_typed_task(task),
		.cookie = request->cookie,
		.flags = RAW_ALIVE,
	};

	raw_fill_record(scratch, buffer, &wanted, (void *)bpf_task_pt_regs(task));
	return unwind_blocked_store_answer(request, &buffer->raw);
}

static __always_inline s32 unwind_blocked_read_task(struct scratch *scratch,
						    struct task_struct *task,
						    struct unwind_blocked_request *request)
{
	struct raw_buffer *buffer;
	s32 result;

	if (!set_search_to_address_space_of_task(&scratch->search, task))
		return -ENOENT;
	buffer = raw_buffer_claim(0) ?: raw_buffer_claim(1);
	if (!buffer)
		return -ENOSPC;
	result = unwind_blocked_make_snapshot(scratch, buffer, task, request);
	atomic_store_release(&buffer->busy, 0);
	return result;
}

static __always_inline s32 unwind_blocked_peek(struct task_struct *task,
					       struct unwind_blocked_request *request)
{
	struct scratch *scratch = scratch_claim(bpf_get_smp_processor_id());
	s32 result;

	if (!scratch)
		return -ENOSPC;
	result = unwind_blocked_read_task(scratch, task, request);
	scratch_release(scratch);
	return result;
}

static __always_inline bool is_cookie_pending(struct deferral *deferral, u32 cookie)
{
	return atomic_load_acquire(&deferral->word) == DEFERRAL_WORD(cookie, DEFERRAL_PENDING);
}

/*
 * The registers are compared before the cookie: if the cookie is still PENDING afterwards, the
 * registers were valid.
 */
static __always_inline s32 unwind_blocked_do_operation(struct task_struct *task,
						       struct deferral *deferral,
						       struct unwind_blocked_request *request)
{
	if (has_task_changed_since_request(task, &deferral->entry))
		return -EAGAIN;
	if (request->operation == UNWIND_BLOCKED_TAKE)
		return take_pending_cookie(deferral, request->cookie);
	if (request->operation == UNWIND_BLOCKED_CHECK)
		return is_cookie_pending(deferral, request->cookie) ? 0 : -ENOENT;
	return unwind_blocked_peek(task, request);
}

static __always_inline s32 unwind_blocked_serve_request(struct deferral *deferral,
							struct unwind_blocked_request *request)
{
	struct task_struct *task;
	s32 result;

	if (!is_cookie_pending(deferral, request->cookie))
		return -ENOENT;
	task = bpf_task_from_pid(deferral->kernel_tid);
	if (!task)
		return -ENOENT;
	result = unwind_blocked_do_operation(task, deferral, request);
	bpf_task_release(task);
	return result;
}

SEC("stackmap.syscall")
int unwind_blocked(struct unwind_blocked_request *request)
{
	u32 tid = request->tid;
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	request->result = deferral ? unwind_blocked_serve_request(deferral, request) : -ENOENT;
	return 0;
}

#endif
