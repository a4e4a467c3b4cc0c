/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The callback of a request. It runs in the task, on its way back to user mode, and may sleep. The
 * first instance whose callback runs unwinds the stack; the others find the stack by its cookie.
 */
#ifndef BPF_DELIVER_H
#define BPF_DELIVER_H

#include "request.h"
#include "stack/unwinder.h"

/*
 * Claims the unwinder that still holds the stack of a cookie. Returns its index, or UNWINDERS_MAX.
 */
static __always_inline u32 deferred_stack_claim_unwinder(const struct engine_task *task, u32 tid,
							 u32 cookie)
{
	u32 index = task->unwinder - 1;
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (!unwinder || atomic_exchange_acq_rel(&unwinder->busy, 1))
		return UNWINDERS_MAX;
	if (unwinder->tid == tid && unwinder->cookie == cookie &&
	    unwinder->walk.max_depth == config.max_user_depth)
		return index;
	unwinder_release(unwinder);
	return UNWINDERS_MAX;
}

/*
 * The cookie whose stack this callback delivers; 0: none. Each use reads the word again: a verifier
 * that knew whether there is a cookie would follow the walk once for each case.
 */
static __always_inline u32 running_cookie(const struct deferral *deferral)
{
	u64 word = core_reload(deferral->word);

	return DEFERRAL_STATE(word) == DEFERRAL_RUNNING ? DEFERRAL_COOKIE(word) : 0;
}

/* True if the stack of the running cookie begins at a user probe (request_stack_at_probe()). */
static __always_inline bool begins_at_user_probe(const struct deferral *deferral)
{
	return running_cookie(deferral) == core_reload(deferral->probed);
}

/*
 * Sets the registers that a walk begins with. Without a cookie the walk is for rules only, and
 * begins with the registers that request_rules() stored; a stack that begins at a user probe has
 * those of request_stack_at_probe().
 */
static __always_inline void set_start_registers(const struct deferral *deferral, u32 tid,
						struct unwind *walk)
{
	struct unwind_registers *kept = bpf_map_lookup_elem(&unlearned, &tid);

	walk->is_compat = registers_of_current(&walk->registers);
	if (kept && (!running_cookie(deferral) || begins_at_user_probe(deferral)))
		bpf_probe_read_kernel(&walk->registers, sizeof(*kept), kept);
}

/*
 * Unwinds the current task in a newly claimed unwinder, for the running cookie or for rules only.
 * Returns the unwinder's index, or UNWINDERS_MAX if none is free.
 */
static __always_inline u32 deferred_stack_unwind_in_new_unwinder(const struct deferral *deferral,
								 struct engine_task *task, u32 tid)
{
	u32 index = unwinder_claim();
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (!unwinder)
		return UNWINDERS_MAX;
	unwinder->tid = tid;
	unwinder->cookie = running_cookie(deferral);
	set_start_registers(deferral, tid, &unwinder->walk);
	unwind_from_given_registers(unwinder);
	task->unwinder = index + 1;
	return index;
}

/*
 * True if memory or registers are no longer those of the request, after execve or rt_sigreturn.
 * The system call is ignored: another interrupt than that of the request may bring the callback. A
 * pc that differs by a breakpoint's length is ignored, too: the request may have been made in the
 * breakpoint's trap, after the breakpoint.
 */
static __always_inline bool is_entry_changed(const struct kernel_entry *requested)
{
	struct kernel_entry now = current_kernel_entry();

	return requested->ip - now.ip > BREAKPOINT_BYTES || now.sp != requested->sp;
}

/*
 * If events have leaves, the innermost frame is delivered as the leaf, and the stack is that of its
 * callers. A stack of one frame is delivered whole, so that its flags tell how it ended.
 */
static __always_inline void deferred_stack_put_unwound(struct scratch *scratch, u32 cpu, u32 tid,
						       u32 cookie, const struct unwinder *unwinder)
{
	u32 skip = config.leaf && unwinder->walk.depth > 1;
	u64 leaf = skip ? unwinder->walk.frame[0] : 0;

	copy_frames_of_unwinder(unwinder, &scratch->user, skip);
	if (unwinder->walk.scripts.count)
		leaf = deferred_stack_replace_unwinder_loops(scratch, unwinder, leaf);
	deferred_stack_send_stack(scratch, cpu, tid, cookie, leaf);
}

/*
 * A stack that begins at a user probe is not left to user space, which would get the current
 * registers of the task.
 */
static __always_inline void deferred_stack_deliver(const struct deferral *deferral,
						   const struct unwinder *unwinder, u32 tid,
						   u32 cookie, u32 reason)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = scratch_claim(cpu);

	if (!scratch) {
		deferred_stack_report_lost(tid, cookie);
		return;
	}
	if (!unwinder || !unwinder->walk.depth)
		deferred_stack_send_reason(scratch, cpu, tid, cookie, reason);
	else if (begins_at_user_probe(deferral) ||
		 !deferred_stack_leave_to_user_space(scratch, tid, cookie, unwinder))
		deferred_stack_put_unwound(scratch, cpu, tid, cookie, unwinder);
	scratch_release(scratch);
}

/* Claims the unwinder that holds the stack of the running cookie, and returns its index. Returns
 * UNWINDERS_MAX if no stack was made; *reason says why. */
static __always_inline u32 find_or_make_deferred_stack(const struct deferral *deferral,
						       struct engine_task *task, u32 tid,
						       u32 *reason)
{
	u32 cookie = running_cookie(deferral), index;

	*reason = REASON_CHANGED;
	if (cookie && !begins_at_user_probe(deferral) && is_entry_changed(&deferral->entry))
		return UNWINDERS_MAX;
	*reason = REASON_NO_STATE;
	index = cookie ? deferred_stack_claim_unwinder(task, tid, cookie) : UNWINDERS_MAX;
	return index < UNWINDERS_MAX ? index
				     : deferred_stack_unwind_in_new_unwinder(deferral, task, tid);
}

/*
 * Waits for the page of a script's name, which the event of the request could not read. Static,
 * because a global function is verified for programs that may not sleep, too.
 */
static __noinline int wait_for_page_of_name(struct deferral *deferral, struct unwinder *unwinder)
{
	u32 bytes;

	if (!deferral || !deferral->name_bytes)
		return 0;
	bytes = deferral->name_bytes;
	deferral->name_bytes = 0;
	if (unwinder)
		wait_for_pages_of_read(&unwinder->search, deferral->name, bytes);
	return 0;
}

/* Takes the cookie that the task waits for, if any, from PENDING to RUNNING. */
static __always_inline void cookie_set_running(struct deferral *deferral)
{
	u64 word = atomic_load_relaxed(&deferral->word);

	if (DEFERRAL_STATE(word) == DEFERRAL_PENDING)
		atomic_cas_acq_rel(&deferral->word, word,
				   DEFERRAL_WORD(DEFERRAL_COOKIE(word), DEFERRAL_RUNNING));
}

/*
 * Unwinds the task once: to deliver the stack of its cookie, or, without a cookie, only to learn
 * rules.
 */
static __always_inline void unwind_for_request(struct deferral *deferral, struct engine_task *task,
					       u32 tid)
{
	u32 reason, index = find_or_make_deferred_stack(deferral, task, tid, &reason);
	u32 cookie = running_cookie(deferral);
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (cookie) {
		deferred_stack_mark_delivery_begun(deferral, cookie);
		deferred_context_deliver(deferral, tid, cookie);
		wait_for_page_of_name(deferral, unwinder);
		rcu_enter();
		deferred_stack_deliver(deferral, unwinder, tid, cookie, reason);
		rcu_leave();
	}
	if (unwinder)
		unwinder_release(unwinder);
	if (cookie)
		deferred_stack_end_delivery(deferral, task, cookie);
	bpf_map_delete_elem(&unlearned, &tid);
}

static int on_task_resume(struct bpf_map *map, void *key, void *value)
{
	u32 work = *(u32 *)key, tid = WORK_TID(work);
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	struct engine_task *task = engine_task_of(tid);

	if (!deferral || !task)
		return 0;
	atomic_store_release(&deferral->turn, !WORK_TURN(work));
	cookie_set_running(deferral);
	if (running_cookie(deferral) || bpf_map_lookup_elem(&unlearned, &tid))
		unwind_for_request(deferral, task, tid);
	return 0;
}

#endif
