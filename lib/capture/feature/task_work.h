/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF task work (bpf/kernel/task_work.h): whether the kernel has it, and objects that may call it.
 *
 * An object declares both forms of the call as weak. Kernels of the second form still have the name
 * of the first, with another prototype, for which libbpf before 1.3 refuses the object. Names that
 * the kernel does not have libbpf looks up in modules, which CAP_BPF alone does not allow. Unusable
 * names are therefore taken out of an object before it is loaded.
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

/* The form by the names in the kernel's BTF; only FEATURE_TASK_WORK says whether it works. */
enum task_work_form task_work_form(void);

/* Call for each object that may use task work, between opening and loading. */
void task_work_prepare(struct bpf_object *object);

/* True if task work works; once it has worked, it is not tried again until the next boot. Any
 * thread. */
bool task_work_works(void);

/* The step that failed and the kernel's error. */
const char *task_work_failure(void);

#endif
