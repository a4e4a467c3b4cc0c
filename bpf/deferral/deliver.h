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
static __always_inline u32 deferred_stack_find(const struct engine_task *task, u32 tid, u32 cookie)
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
static __always_inline u32 cookie_running(const struct deferral *deferral)
{
	u64 word = core_reload(deferral->word);

	return DEFERRAL_STATE(word) == DEFERRAL_RUNNING ? DEFERRAL_COOKIE(word) : 0;
}

/* True if the stack of the running cookie begins at a user probe (probe_request()). */
static __always_inline bool is_probed(const struct deferral *deferral)
{
	return cookie_running(deferral) == core_reload(deferral->probed);
}

/*
 * Sets the registers that a walk begins with. Without a cookie the walk is for rules only, and
 * begins with the registers that steps_request() stored; a stack that begins at a user probe has
 * those of probe_request().
 */
static __always_inline void registers_enter(const struct deferral *deferral, u32 tid,
					    struct unwind *walk)
{
	struct unwind_registers *kept = bpf_map_lookup_elem(&unlearned, &tid);

	walk->is_compat = registers_of_current(&walk->registers);
	if (kept && (!cookie_running(deferral) || is_probed(deferral)))
		bpf_probe_read_kernel(&walk->registers, sizeof(*kept), kept);
}

/* Unwinds in a newly claimed unwinder. Returns its index, or UNWINDERS_MAX if none is free. */
static __always_inline u32 deferred_stack_make(const struct deferral *deferral,
					       struct engine_task *task, u32 tid)
{
	u32 index = unwinder_claim();
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (!unwinder)
		return UNWINDERS_MAX;
	unwinder->tid = tid;
	unwinder->cookie = cookie_running(deferral);
	registers_enter(deferral, tid, &unwinder->walk);
	unwinder_walk(unwinder);
	task->unwinder = index + 1;
	return index;
}

/*
 * True if memory or registers are no longer those of the request, after execve or rt_sigreturn.
 * The system call is ignored: another interrupt than that of the request may bring the callback. A
 * pc that differs by a breakpoint's length is ignored, too: the request may have been made in the
 * breakpoint's trap, after the breakpoint.
 */
static __always_inline bool is_changed(const struct kernel_entry *requested)
{
	struct kernel_entry now = current_entry();

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

	unwinder_copy(unwinder, &scratch->user, skip);
	if (unwinder->walk.scripts.count)
		leaf = deferred_stack_join_scripts_of(scratch, unwinder, leaf);
	deferred_stack_put(scratch, cpu, tid, cookie, leaf);
}

/* A stack that begins at a user probe is not left to user space, which would get the registers of
 * now. */
static __always_inline void deferred_stack_deliver(const struct deferral *deferral,
						   const struct unwinder *unwinder, u32 tid,
						   u32 cookie, u32 reason)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = scratch_claim(cpu);

	if (!scratch) {
		deferred_stack_drop(tid, cookie);
		return;
	}
	if (!unwinder || !unwinder->walk.depth)
		deferred_stack_refuse(scratch, cpu, tid, cookie, reason);
	else if (is_probed(deferral) || !deferred_stack_leave(scratch, tid, cookie, unwinder))
		deferred_stack_put_unwound(scratch, cpu, tid, cookie, unwinder);
	scratch_release(scratch);
}

/* Claims the unwinder that holds the stack of the running cookie, and returns its index. Returns
 * UNWINDERS_MAX if no stack was made; *reason says why. */
static __always_inline u32 deferred_stack_get(const struct deferral *deferral,
					      struct engine_task *task, u32 tid, u32 *reason)
{
	u32 cookie = cookie_running(deferral), index;

	*reason = REASON_CHANGED;
	if (cookie && !is_probed(deferral) && is_changed(&deferral->entry))
		return UNWINDERS_MAX;
	*reason = REASON_NO_STATE;
	index = cookie ? deferred_stack_find(task, tid, cookie) : UNWINDERS_MAX;
	return index < UNWINDERS_MAX ? index : deferred_stack_make(deferral, task, tid);
}

/* Takes the cookie that the task waits for, if any, from PENDING to RUNNING. */
static __always_inline void cookie_claim(struct deferral *deferral)
{
	u64 word = atomic_load_relaxed(&deferral->word);

	if (DEFERRAL_STATE(word) == DEFERRAL_PENDING)
		atomic_cas_acq_rel(&deferral->word, word,
				   DEFERRAL_WORD(DEFERRAL_COOKIE(word), DEFERRAL_RUNNING));
}

/* Unwinds the task once: to answer its cookie, or, without a cookie, only to learn rules. */
static __always_inline void resume(struct deferral *deferral, struct engine_task *task, u32 tid)
{
	u32 reason, index = deferred_stack_get(deferral, task, tid, &reason);
	u32 cookie = cookie_running(deferral);
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (cookie) {
		deferred_stack_begin(deferral, cookie);
		rcu_enter();
		deferred_stack_deliver(deferral, unwinder, tid, cookie, reason);
		rcu_leave();
	}
	if (unwinder)
		unwinder_release(unwinder);
	if (cookie)
		deferred_stack_close(deferral, task, cookie);
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
	cookie_claim(deferral);
	if (cookie_running(deferral) || bpf_map_lookup_elem(&unlearned, &tid))
		resume(deferral, task, tid);
	return 0;
}

#endif
