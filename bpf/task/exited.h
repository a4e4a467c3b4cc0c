/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks that have exited. The kernel's work for a task on its way out belongs to the task, so the
 * task leaves `followed` EXITED_MAX exits later.
 *
 * sched_process_free would be the right moment, but it comes from RCU in whatever task RCU
 * interrupts, and a kernel may keep programs away from some tasks: on a virtual machine whose agent
 * was such a task, every call in it was missed and not counted, while ftrace saw it.
 * sched_process_exit comes in the task itself.
 */
#ifndef BPF_EXITED_H
#define BPF_EXITED_H

#include "event/filter.h"
#include "kernel/kernel_types.h"

#define EXITED_MAX 1024 /* a power of two */

struct exited {
	u64 task;
	u32 tid;
	u32 reserved;
};

ARRAY_MAP(exited, EXITED_MAX, struct exited);

u32 exited_next;

/*
 * True if a task, which may have been freed, has this id. A task that died in its execve does not:
 * it had exchanged ids with the first thread of its process.
 */
static __always_inline bool has_id(u64 task, u32 tid)
{
	return tid_of((struct task_struct *)task) == tid;
}

static __always_inline void unfollow(u64 task, u32 tid)
{
	struct followed *own = bpf_map_lookup_elem(&followed, &tid);

	if (own && (!own->task || own->task == task || !has_id(own->task, tid)))
		bpf_map_delete_elem(&followed, &tid);
}

/* Adds a task in place of the one that has waited longest, which is no longer followed. */
static __always_inline void exited_add(u64 task, u32 tid)
{
	u32 index = atomic_fetch_add_acq_rel(&exited_next, 1) & (EXITED_MAX - 1);
	struct exited *place = bpf_map_lookup_elem(&exited, &index);

	if (!place)
		return;
	if (place->task)
		unfollow(place->task, place->tid);
	place->task = task;
	place->tid = tid;
}

#endif
