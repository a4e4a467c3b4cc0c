/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF task work (bpf/kernel/task_work.h): whether the kernel does it, and objects that may call it.
 *
 * An object declares both forms of the call as weak. Kernels of the second form still name the
 * first, with another prototype: libbpf before 1.3 refuses the object for it. What the kernel lacks
 * libbpf looks for in modules, which CAP_BPF alone does not allow. So the names of both are taken
 * out of an object before it is loaded.
 */
#ifndef LIB_CAPTURE_TASK_WORK_H
#define LIB_CAPTURE_TASK_WORK_H

#include <stdbool.h>

struct bpf_object;

enum task_work_form {
	TASK_WORK_NONE,
	TASK_WORK_AUX,	/* 6.18, 6.19: bpf_task_work_schedule_resume_impl() */
	TASK_WORK_PLAIN /* 7.0: bpf_task_work_schedule_resume() */
};

/* By what the kernel's types name. It may still not work: FEATURE_TASK_WORK tells. */
enum task_work_form task_work_form(void);

/* To be called for each object that may use task work, between opening and loading. */
void task_work_prepare(struct bpf_object *object);

/* Whether it works here: tried once in a boot, if it does. doctor tries it each time. Any thread.
 */
bool task_work_works(void);

/* Why not: what was tried, and what the kernel said. */
const char *task_work_why(void);

#endif
