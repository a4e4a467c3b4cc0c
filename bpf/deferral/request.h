/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request for the user stack of the current task: returns a cookie at once, in any context, and
 * has the kernel call back in the task before it returns to user mode (abi/deferral.h).
 *
 * Only programs that run in a task make requests of that task and interrupt one another, and the
 * task's callback runs in the task, too. Therefore only the state word needs atomics.
 *
 * The embedder defines the functions declared here, and so the destination of deferred stacks.
 */
#ifndef BPF_REQUEST_H
#define BPF_REQUEST_H

#include "cookie.h"
#include "deferral.h"
#include "kernel/task_work.h"
#include "state/scratch_slots.h"
#include "state/task_ids.h"

struct unwinder;

HASH_MAP(deferrals, TASKS_MAX, u32, struct deferral);	   /* key: tid */
HASH_MAP(works, 2 * TASKS_MAX, u32, struct deferral_work); /* key: WORK_KEY() */

/*
 * The registers of tasks at a user probe from which the walk failed: a later walk from these
 * registers finds the missing rules.
 */
HASH_MAP(unlearned, TASKS_MAX, u32, struct unwind_registers); /* key: tid */

static int on_task_resume(struct bpf_map *map, void *key, void *value);

/*
 * Defined by the embedder: has the callback scheduled, at once (callback_schedule()) or before the
 * task is back in user mode. In the latter case it returns -EBUSY; if there cannot be a callback
 * after all, it delivers the stack, or a reason.
 */
static __always_inline int ensure_callback_is_scheduled(struct scratch *scratch, u32 tid,
							const struct deferral *deferral);

/*
 * Defined by the embedder: deliver the deferred stack of a cookie, which is in scratch->user with
 * `leaf` in front of it (0: no leaf), or the reason for its absence (enum stack_reason). Called in
 * the task, in any context; must not sleep.
 */
static __always_inline void deferred_stack_send_stack(struct scratch *scratch, u32 cpu, u32 tid,
						      u32 cookie, u64 leaf);
static __always_inline void deferred_stack_send_reason(struct scratch *scratch, u32 cpu, u32 tid,
						       u32 cookie, u32 reason);

/*
 * Defined by the embedder: replaces the frames of interpreters' loops in scratch->user by frames of
 * scripts. The first function is called after a final walk of scratch->direct; the second one after
 * the stack of an unwinder was copied to scratch->user, with `leaf` in front of it (0: no leaf).
 * Both return the leaf, and are called as the functions above.
 */
static __always_inline u64 deferred_stack_replace_loop_frames(struct scratch *scratch);
static __always_inline u64 deferred_stack_replace_unwinder_loops(struct scratch *scratch,
								 const struct unwinder *unwinder,
								 u64 leaf);

/*
 * Defined by the embedder: leaves to user space a stack that ends for want of a rule. False: the
 * caller delivers the stack as it is.
 */
static __always_inline bool deferred_stack_leave_to_user_space(struct scratch *scratch, u32 tid,
							       u32 cookie,
							       const struct unwinder *unwinder);

/*
 * Defined by the embedder: delivers the memory of a stack that the walk could not finish.
 * scratch->search is in the task's address space.
 */
static __always_inline void deferred_stack_send_memory(struct scratch *scratch, u32 cpu, u32 tid,
						       u32 cookie);

/*
 * Defined by the embedder: delivers the trace ids that events of a cookie wait for
 * (deferral->context). Called in the callback, after the last request that gets the cookie; may
 * sleep.
 */
static __always_inline void deferred_context_deliver(struct deferral *deferral, u32 tid,
						     u32 cookie);

/* Defined by the embedder: counts a stack for which no scratch slot was free. */
static __always_inline void deferred_stack_report_lost(u32 tid, u32 cookie);

static __noinline struct deferral *deferral_find_or_add(u32 tid)
{
	struct deferral empty = {.kernel_tid = bpf_get_current_pid_tgid()},
			*deferral = bpf_map_lookup_elem(&deferrals, &tid);

	if (deferral)
		return deferral;
	bpf_map_update_elem(&deferrals, &tid, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&deferrals, &tid);
}

/* The initial value is plain bytes: the verifier refuses to pass on a struct bpf_task_work. */
static __always_inline struct deferral_work *deferral_work_find_or_add(u32 tid, u32 turn)
{
	u32 key = WORK_KEY(tid, turn);
	u64 empty = 0;
	struct deferral_work *work = bpf_map_lookup_elem(&works, &key);

	if (work)
		return work;
	bpf_map_update_elem(&works, &key, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&works, &key);
}

/*
 * Schedules the callback: 0; -EBUSY: it was scheduled before; or another -errno. The verifier goes
 * through all code of the callback for each program with this call.
 */
static __always_inline int callback_schedule(u32 tid, const struct deferral *deferral)
{
	struct deferral_work *work =
		deferral_work_find_or_add(tid, atomic_load_relaxed(&deferral->turn));

	if (!work)
		return -ENOMEM;
	return task_work_schedule(&work->work, &works, on_task_resume);
}

/*
 * Makes the task wait for the cookie of `entry`; `before` is the value of deferral->word as the
 * caller has read it. The callback is scheduled first, or is certain to be, because an interrupting
 * program relies on it from then on.
 */
static __always_inline s64 deferral_begin_wait(struct scratch *scratch, u32 tid,
					       struct deferral *deferral, u64 before,
					       const struct kernel_entry *entry)
{
	u32 cookie = cookie_find_or_open(tid, DEFERRAL_COOKIE(before), entry);
	u64 word = DEFERRAL_WORD(cookie, DEFERRAL_PENDING);
	int error;

	if (!cookie)
		return -ENOMEM;
	error = ensure_callback_is_scheduled(scratch, tid, deferral);
	if (error && error != -EBUSY)
		return -ENOMEM;
	deferral->entry = *entry;
	if (atomic_cas_acq_rel(&deferral->word, before, word) == before)
		return cookie;
	/* this word was written by an interrupting program */
	word = atomic_load_relaxed(&deferral->word);
	return DEFERRAL_STATE(word) == DEFERRAL_IDLE ? -ENOMEM : DEFERRAL_COOKIE(word);
}

/*
 * A request while the cookie of another entry waits. In most cases the callback of the old cookie
 * is still to come, after rt_sigreturn or execve have replaced the registers, and the callback will
 * deliver REASON_CHANGED. If scheduling succeeds here, the kernel has never called back, and the
 * old cookie gets REASON_CHANGED now.
 */
static __always_inline s64 deferral_replace_cookie(struct scratch *scratch, u32 cpu, u32 tid,
						   struct deferral *deferral, u64 before,
						   const struct kernel_entry *entry)
{
	u32 last = DEFERRAL_COOKIE(before), cookie;

	if (ensure_callback_is_scheduled(scratch, tid, deferral))
		return last;
	cookie = cookie_find_or_open(tid, last, entry);
	if (!cookie || atomic_cas_acq_rel(&deferral->word, before,
					  DEFERRAL_WORD(cookie, DEFERRAL_PENDING)) != before)
		return -ENOMEM;
	deferral->entry = *entry;
	deferred_stack_send_reason(scratch, cpu, tid, last, REASON_CHANGED);
	return cookie;
}

/* True if the task exits: it does not return to user mode. */
static __always_inline bool is_exiting(void)
{
	return bpf_get_current_task_btf()->flags & PF_EXITING;
}

/*
 * True if the callback, or a program at exec or exit, has begun to write the stack of its cookie.
 * `delivered` must be read before the word: a program that interrupts between the two reads may
 * have another cookie delivered.
 */
static __always_inline bool is_being_delivered(u64 word, u32 delivered)
{
	return DEFERRAL_STATE(word) == DEFERRAL_RUNNING && delivered == DEFERRAL_COOKIE(word);
}

/* Marks the stack of a cookie as being written: later requests get another cookie. */
static __always_inline void deferred_stack_mark_delivery_begun(struct deferral *deferral,
							       u32 cookie)
{
	deferral->delivered = cookie;
	barrier_compiler();
}

/*
 * The cookie of this entry into the kernel, or -ENOMEM. Only for tasks that will return to user
 * mode.
 */
static __always_inline s64 deferral_request(struct scratch *scratch, u32 cpu)
{
	u32 tid = current_tid();
	struct deferral *deferral = deferral_find_or_add(tid);
	struct kernel_entry entry;
	u32 delivered;
	u64 word;

	if (!deferral)
		return -ENOMEM;
	entry = current_kernel_entry();
	delivered = atomic_load_relaxed(&deferral->delivered);
	word = atomic_load_relaxed(&deferral->word);
	if (DEFERRAL_STATE(word) == DEFERRAL_IDLE || is_being_delivered(word, delivered))
		return deferral_begin_wait(scratch, tid, deferral, word, &entry);
	if (DEFERRAL_STATE(word) == DEFERRAL_RUNNING ||
	    is_same_kernel_entry(&deferral->entry, &entry))
		return DEFERRAL_COOKIE(word);
	return deferral_replace_cookie(scratch, cpu, tid, deferral, word, &entry);
}

/*
 * Has the callback unwind from the registers at a user probe. The task is about to run the
 * instruction under the probe, or has run it when the callback comes, so the task's registers are
 * others then; but one instruction takes no frame away from the stack. Returns the cookie, or
 * -ENOMEM.
 */
static __always_inline s64 request_stack_at_probe(struct scratch *scratch, u32 cpu, u32 at_entry)
{
	u32 tid = current_tid();
	struct deferral *deferral = deferral_find_or_add(tid);
	struct kernel_entry entry;
	s64 cookie;

	if (!deferral || registers_of_current(&scratch->direct.registers))
		return -ENOMEM;
	scratch->direct.registers.at_entry = at_entry;
	if (bpf_map_update_elem(&unlearned, &tid, &scratch->direct.registers, BPF_ANY))
		return -ENOMEM;
	cookie = deferral_request(scratch, cpu);
	entry = current_kernel_entry();
	if (cookie <= 0 || !is_same_kernel_entry(&deferral->entry, &entry))
		return -ENOMEM;
	deferral->probed = cookie;
	return cookie;
}

/*
 * Has the callback unwind from the registers of a user function that could not be walked, to find
 * the rules for the next walk. The result is not used as a stack, because the instruction under the
 * probe has run when the callback comes; but the memory of the function's callers is still the
 * same.
 */
static __always_inline void request_rules(struct scratch *scratch, u32 at_entry)
{
	u32 tid = current_tid();
	struct deferral *deferral = deferral_find_or_add(tid);

	if (!deferral || registers_of_current(&scratch->direct.registers))
		return;
	scratch->direct.registers.at_entry = at_entry;
	if (bpf_map_update_elem(&unlearned, &tid, &scratch->direct.registers, BPF_ANY))
		return;
	ensure_callback_is_scheduled(scratch, tid, deferral);
}

/*
 * Takes the request that the task waits for, to deliver its stack. Returns its cookie; 0: the task
 * waits for no stack.
 */
static __always_inline u32 begin_pending_delivery(struct deferral *deferral)
{
	u64 word = deferral ? atomic_load_relaxed(&deferral->word) : 0;
	u32 cookie = DEFERRAL_COOKIE(word);

	if (DEFERRAL_STATE(word) != DEFERRAL_PENDING ||
	    atomic_cas_acq_rel(&deferral->word, word, DEFERRAL_WORD(cookie, DEFERRAL_RUNNING)) !=
		    word)
		return 0;
	deferred_stack_mark_delivery_begun(deferral, cookie);
	return cookie;
}

/*
 * Ends the delivery of a cookie. The cookie is closed before the request becomes idle: a request in
 * between already waits for another cookie, and for the next callback.
 */
static __always_inline void deferred_stack_end_delivery(struct deferral *deferral,
							struct engine_task *task, u32 cookie)
{
	if (task)
		cookie_mark_closed(task, cookie);
	atomic_cas_acq_rel(&deferral->word, DEFERRAL_WORD(cookie, DEFERRAL_RUNNING),
			   DEFERRAL_WORD(cookie, DEFERRAL_IDLE));
}

/*
 * Takes a cookie out of PENDING, from any task: its stack is now the caller's to deliver, or is
 * dropped. 0, or -ENOENT: the cookie is not pending.
 */
static __always_inline s32 take_pending_cookie(struct deferral *deferral, u32 cookie)
{
	u64 pending = DEFERRAL_WORD(cookie, DEFERRAL_PENDING);
	u64 idle = DEFERRAL_WORD(cookie, DEFERRAL_IDLE);

	return atomic_cas_acq_rel(&deferral->word, pending, idle) == pending ? 0 : -ENOENT;
}

/* Frees the state of a task that is gone. */
static __always_inline void delete_deferral_state_of_task(u32 tid)
{
	u32 first = WORK_KEY(tid, 0), second = WORK_KEY(tid, 1);

	bpf_map_delete_elem(&deferrals, &tid);
	bpf_map_delete_elem(&unlearned, &tid);
	bpf_map_delete_elem(&works, &first);
	bpf_map_delete_elem(&works, &second);
	bpf_map_delete_elem(&engine_tasks, &tid);
}

#endif
