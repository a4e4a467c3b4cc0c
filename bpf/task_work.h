/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's way to call back in a task before it returns to user mode (6.18). Absent before:
 * programs that might call it are kept away from it by a constant.
 */
#ifndef BPF_TASK_WORK_H
#define BPF_TASK_WORK_H

#include <bpf/bpf_helpers.h>

#include "deferral.h"
#include "kernel_types.h"

extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work,
					      void *map,
					      int (*callback)(struct bpf_map *, void *, void *),
					      void *aux) __ksym __weak;

#endif
