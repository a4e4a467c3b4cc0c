/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's way to call back in a task before it returns to user mode. There are two forms of
 * it: 6.18 and 6.19 take a last argument that the verifier fills in, from 7.0 on it is not written
 * any more. A kernel has one of them or none, and the verifier removes what is behind the others.
 * Programs are kept away from all by a constant where the kernel's does not work.
 *
 * The kernels of the second form still name the first one, with another prototype. What libbpf
 * makes of that: capture/feature/task_work.h.
 */
#ifndef BPF_TASK_WORK_H
#define BPF_TASK_WORK_H

#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/version.h>

#include <bpf/bpf_helpers.h>

#include "deferral.h"
#include "kernel_types.h"

/* Found in a map's value by this name. The kernel's headers have it from 6.18 on. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
struct bpf_task_work {
	u64 opaque;
};
#endif

/*
 * What the kernel calls back by. It is free again only after its callback has returned, so each
 * task has two in turn, and a callback begins by giving the turn to the other: a work that is busy
 * is then always one that will still run.
 */
struct deferral_work {
	struct bpf_task_work work;
};

typedef int task_work_callback(struct bpf_map *map, void *key, void *value);

extern int bpf_task_work_schedule_resume(struct task_struct *task, struct bpf_task_work *work,
					 void *map, task_work_callback *callback) __ksym __weak;
extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work,
					      void *map, task_work_callback *callback,
					      void *aux) __ksym __weak;

/* Has `callback` called in the current task. 0; -EBUSY: `work` is scheduled already; or -errno. A
 * macro: the verifier wants map and callback as constants. */
#define task_work_schedule(work, map, callback)                                                    \
	({                                                                                         \
		struct task_struct *task_work_task = (void *)bpf_get_current_task_btf();           \
		int task_work_result = -EOPNOTSUPP;                                                \
                                                                                                   \
		if (bpf_task_work_schedule_resume)                                                 \
			task_work_result = bpf_task_work_schedule_resume(task_work_task, work,     \
									 map, callback);           \
		else if (bpf_task_work_schedule_resume_impl)                                       \
			task_work_result = bpf_task_work_schedule_resume_impl(                     \
				task_work_task, work, map, callback, NULL);                        \
		task_work_result;                                                                  \
	})

#endif
