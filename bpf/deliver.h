/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The callback of a request: runs in the task, on its way back to user mode, and may sleep. The
 * first instance whose callback runs unwinds; the others find its stack by the cookie.
 */
#ifndef BPF_DELIVER_H
#define BPF_DELIVER_H

#include "request.h"
#include "unwinder.h"

/* Claims the unwinder in which the answer of a cookie still lies: its index, or UNWINDERS_MAX. */
static __always_inline u32 answer_find(const struct engine_task *task, u32 tid, u32 cookie)
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

/* Unwinds in an unwinder of its own: its index, or UNWINDERS_MAX if none is free. */
static __always_inline u32 answer_make(struct engine_task *task, u32 tid, u32 cookie)
{
	u32 index = unwinder_claim();
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (!unwinder)
		return UNWINDERS_MAX;
	unwinder->tid = tid;
	unwinder->cookie = cookie;
	unwinder_run(unwinder);
	task->unwinder = index + 1;
	return index;
}

/* Memory or registers are not those of the request: execve and rt_sigreturn. orig_ax does not
 * count: the interrupt that brings the callback may be another one than that of the request. Nor
 * does it whether the request was made in the trap of a breakpoint, behind it. */
static __always_inline bool is_changed(const struct kernel_entry *requested)
{
	struct kernel_entry now = current_entry();

	return requested->ip - now.ip > BREAKPOINT_BYTES || now.sp != requested->sp;
}

/* Where events have leaves the innermost frame is one, and the stack is that of its callers, if it
 * has any: a stack of one frame says how it ended. */
static __always_inline void answer_unwound(struct lane *lane, u32 cpu, u32 tid, u32 cookie,
					   const struct unwinder *unwinder)
{
	u32 skip = config.leaf && unwinder->walk.depth > 1;

	unwinder_copy(unwinder, &lane->user, skip);
	answer_stack(lane, cpu, tid, cookie, skip ? unwinder->walk.frame[0] : 0);
}

static __always_inline void answer_put(const struct unwinder *unwinder, u32 tid, u32 cookie,
				       u32 reason)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lane *lane = lane_claim(cpu);

	if (!lane) {
		answer_drop(tid, cookie);
		return;
	}
	if (unwinder && unwinder->walk.depth)
		answer_unwound(lane, cpu, tid, cookie, unwinder);
	else
		answer_refuse(lane, cpu, tid, cookie, reason);
	lane_release(lane);
}

/* The answer's unwinder, claimed, or UNWINDERS_MAX with the reason. */
static __always_inline u32 answer_get(const struct deferral *deferral, struct engine_task *task,
				      u32 tid, u32 cookie, u32 *reason)
{
	u32 index;

	*reason = REASON_CHANGED;
	if (is_changed(&deferral->entry))
		return UNWINDERS_MAX;
	*reason = REASON_NO_STATE;
	index = answer_find(task, tid, cookie);
	return index < UNWINDERS_MAX ? index : answer_make(task, tid, cookie);
}

/*
 * The cookie is closed before the request becomes idle: in between a new request gets the old
 * cookie still, whose answer is there.
 */
static __always_inline void deliver(struct deferral *deferral, struct engine_task *task, u32 tid,
				    u32 cookie)
{
	struct unwinder *unwinder;
	u32 reason, index = answer_get(deferral, task, tid, cookie, &reason);

	unwinder = bpf_map_lookup_elem(&unwinders, &index);
	rcu_enter();
	answer_put(unwinder, tid, cookie, reason);
	rcu_leave();
	if (unwinder)
		unwinder_release(unwinder);
	cookie_close(task, cookie);
	atomic_cas_acq_rel(&deferral->word, DEFERRAL_WORD(cookie, DEFERRAL_RUNNING),
			   DEFERRAL_WORD(cookie, DEFERRAL_IDLE));
}

static int on_task_resume(struct bpf_map *map, void *key, void *value)
{
	u32 work = *(u32 *)key, tid = WORK_TID(work), cookie;
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	struct engine_task *task = bpf_map_lookup_elem(&engine_tasks, &tid);
	u64 word;

	if (!deferral || !task)
		return 0;
	atomic_store_release(&deferral->turn, !WORK_TURN(work));
	word = atomic_load_relaxed(&deferral->word);
	cookie = DEFERRAL_COOKIE(word);
	if (DEFERRAL_STATE(word) == DEFERRAL_PENDING &&
	    atomic_cas_acq_rel(&deferral->word, word, DEFERRAL_WORD(cookie, DEFERRAL_RUNNING)) ==
		    word)
		deliver(deferral, task, tid, cookie);
	return 0;
}

#endif
