/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF task work, the kernel's callback in a task that returns to user mode
 * (bpf/kernel/task_work.h): finds out whether the kernel has it, and prepares BPF objects that call
 * it.
 *
 * The kernel's function has had two forms, and an object declares both as weak. Kernels with the
 * second form still have the name of the first form, with another prototype, and libbpf before 1.3
 * refuses the object for that. If the kernel lacks a name, libbpf looks in modules, which CAP_BPF
 * alone does not allow. Names that cannot be used are therefore removed from an object before it is
 * loaded.
 */
#ifndef LIB_CAPTURE_TASK_WORK_H
#define LIB_CAPTURE_TASK_WORK_H

#include <stdbool.h>

struct bpf_object;

enum task_work_form {
	TASK_WORK_NONE,
	TASK_WORK_AUX,	/* Linux 6.18 and 6.19 have bpf_task_work_schedule_resume_impl() */
	TASK_WORK_PLAIN /* Linux 7.0 has bpf_task_work_schedule_resume() */
};

/* Returns the form of the function that the kernel has, by the names in its BTF. FEATURE_TASK_WORK
 * tells whether task work really works. */
enum task_work_form task_work_form(void);

/* Removes from an object the names of kernel functions that the kernel lacks. Call between opening
 * and loading, for each object that may use task work. */
void task_work_remove_unusable_functions(struct bpf_object *object);

/* True if task work works. Once it has worked, it is not tried again until the next boot. Any
 * thread may call. */
bool task_work_works(void);

/* Returns why task work does not work: the step that failed, and the kernel's error. */
const char *task_work_failure(void);

#endif
