/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Task work: the kernel calls back in a task before it returns to user mode. The kfunc has two
 * forms: 6.18 and 6.19 take a last argument that the verifier fills in; from 7.0 on the argument is
 * gone. A kernel has one form or neither, and the verifier removes calls of an absent form. On a
 * kernel whose task work is broken, a constant keeps programs from calling it.
 *
 * Kernels with the second form still name the first one, with another prototype; for libbpf's view
 * of this see capture/feature/task_work.h.
 */
#ifndef BPF_TASK_WORK_H
#define BPF_TASK_WORK_H

#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/version.h>

#include <bpf/bpf_helpers.h>

#include "deferral.h"
#include "kernel_types.h"

/*
 * The kernel finds this struct in a map's value by its name. The kernel's headers have it since
 * 6.18.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
struct bpf_task_work {
	u64 opaque;
};
#endif

/*
 * The work item of a scheduled callback, which can be used again only after the callback has
 * returned. Each task has two work items in turn. A callback first passes the turn to the other
 * item. If the item in turn is busy, its callback has therefore not begun yet.
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

/*
 * Schedules `callback` in a task. 0; -EBUSY: `work` is scheduled already; or another
 * -errno. A macro, because the verifier needs map and callback as constants.
 */
#define task_work_schedule_in(task, work, map, callback)                                           \
	({                                                                                         \
		struct task_struct *task_work_task = (task);                                       \
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

#define task_work_schedule(work, map, callback)                                                    \
	task_work_schedule_in((void *)bpf_get_current_task_btf(), work, map, callback)

#endif
