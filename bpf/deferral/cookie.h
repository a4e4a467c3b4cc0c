/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cookies: the entry into the kernel that a cookie belongs to, opening and closing
 * (abi/deferral.h).
 */
#ifndef BPF_COOKIE_H
#define BPF_COOKIE_H

#include "kernel/kernel_types.h"
#include "state/engine_maps.h"
#include "state/user_registers.h"

static __always_inline struct kernel_entry current_kernel_entry(void)
{
	const struct pt_regs___kernel *regs = current_pt_regs();
	struct place place = current_user_pc_without_probe_code();

	return (struct kernel_entry){.ip = place.pc, .sp = place.sp, .syscall = regs_syscall(regs)};
}

static __always_inline bool is_same_kernel_entry(const struct kernel_entry *a,
						 const struct kernel_entry *b)
{
	return a->ip == b->ip && a->sp == b->sp && a->syscall == b->syscall;
}

static __always_inline struct engine_task *engine_task_of(u32 tid)
{
	struct engine_task empty = {}, *task = bpf_map_lookup_elem(&engine_tasks, &tid);

	if (task)
		return task;
	bpf_map_update_elem(&engine_tasks, &tid, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&engine_tasks, &tid);
}

static __always_inline u32 take_cookie_number(struct engine_state *engine)
{
	return (atomic_fetch_add_acq_rel(&engine->cookie_last, 1) + 1) & ~COOKIE_LASTING;
}

/* Returns a cookie that no task has had; 0 without an engine. */
static __always_inline u32 cookie_new(void)
{
	struct engine_state *engine = current_engine_state();
	u32 cookie;

	if (!engine)
		return 0;
	cookie = take_cookie_number(engine);
	return cookie ? cookie : take_cookie_number(engine);
}

/*
 * The cookie of this entry into the kernel: the one that another instance opened, or a new one. A
 * cookie whose stack this instance has delivered (`last`) counts as closed. 0: no memory, or an
 * interrupting program has closed the cookie meanwhile.
 */
static __always_inline u32 cookie_find_or_open(u32 tid, u32 last, const struct kernel_entry *entry)
{
	struct engine_task *task = engine_task_of(tid);
	u64 word;
	u32 cookie;

	if (!task)
		return 0;
	word = atomic_load_relaxed(&task->word);
	cookie = TASK_COOKIE(word);
	if (cookie && !TASK_CLOSED(word) && cookie != last &&
	    is_same_kernel_entry(&task->entry, entry))
		return cookie;
	cookie = cookie_new();
	task->entry = *entry;
	if (atomic_cas_acq_rel(&task->word, word, TASK_WORD(cookie, 0)) == word)
		return cookie;
	/* this is the cookie that an interrupting program has opened */
	cookie = TASK_COOKIE(atomic_load_relaxed(&task->word));
	return cookie == last ? 0 : cookie;
}

/* Closes a cookie: no more requests join it. */
static __always_inline void cookie_mark_closed(struct engine_task *task, u32 cookie)
{
	atomic_cas_acq_rel(&task->word, TASK_WORD(cookie, 0), TASK_WORD(cookie, 1));
}

#endif
