/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ids of tasks as the starter of the instance sees them: the kernel's own, or, in a PID namespace,
 * the namespace's. A task of a nested namespace has an id in the outer one, too. A task outside of
 * the namespace has id 0, as the kernel reports it.
 *
 * A task loses its ids when it is released, and may run for some instructions after that.
 *
 * The level is a constant: in the initial namespace all of this code is removed.
 */
#ifndef BPF_TASK_IDS_H
#define BPF_TASK_IDS_H

#include "instance.h"
#include "kernel/kernel_types.h"

static __always_inline bool records_ids_of_inner_pid_namespace(void)
{
	return config.pids.level != 0;
}

/*
 * True if the PID namespace has ended and another namespace has its place in memory: a task was
 * born there with the id of a namespace's first task.
 */
#define FIRST_IN_NAMESPACE 1U
static bool namespace_ended;

/*
 * Returns the id of a task in the PID namespace of the instance; 0: the task has none. Not inlined:
 * each of the many callers would make the programs larger.
 */
static __noinline __attribute__((unused)) u32 task_id_in_namespace(const struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *number = upid_at(pid, config.pids.level);

	if (!pid || BPF_CORE_READ(pid, level) < config.pids.level || namespace_ended ||
	    (u64)BPF_CORE_READ(number, ns) != config.pids.address)
		return 0;
	return BPF_CORE_READ(number, nr);
}

static __always_inline u32 tid_of(const struct task_struct *task)
{
	return records_ids_of_inner_pid_namespace() ? task_id_in_namespace(task)
						    : (u32)BPF_CORE_READ(task, pid);
}

static __always_inline u32 tgid_of(const struct task_struct *task)
{
	if (!records_ids_of_inner_pid_namespace())
		return BPF_CORE_READ(task, tgid);
	return task_id_in_namespace(BPF_CORE_READ(task, group_leader));
}

/* tid_of() for a task whose type the verifier knows, so that fields are read without a call. */
static __always_inline u32 tid_of_typed_task(const struct task_struct *task)
{
	return records_ids_of_inner_pid_namespace() ? task_id_in_namespace(task) : (u32)task->pid;
}

static __always_inline u32 tgid_of_typed_task(const struct task_struct *task)
{
	return records_ids_of_inner_pid_namespace() ? task_id_in_namespace(task->group_leader)
						    : (u32)task->tgid;
}

/* The current task, whose fields are read without a call. */
static __always_inline const struct task_struct *current_typed_task(void)
{
	return (void *)bpf_get_current_task_btf();
}

/*
 * The ids of a task, as bpf_get_current_pid_tgid() returns them. 0: the task is outside of the
 * namespace, or, in the initial namespace, an idle task.
 */
static __always_inline u64 pid_and_tid_of_typed_task(const struct task_struct *task)
{
	u32 tid = tid_of_typed_task(task);

	return tid ? (u64)tgid_of_typed_task(task) << 32 | tid : 0;
}

/* pid_and_tid_of_typed_task() with fewer bytes of the stack. */
static __always_inline u64 current_pid_and_tid(void)
{
	return records_ids_of_inner_pid_namespace()
		       ? pid_and_tid_of_typed_task(current_typed_task())
		       : bpf_get_current_pid_tgid();
}

/* The name of a task is copied without a call. Its bytes after the text are 0. */
static __always_inline void copy_comm_of_typed_task(u64 *comm, const struct task_struct *task)
{
	comm[0] = *(const u64 *)&task->comm[0];
	comm[1] = *(const u64 *)&task->comm[8];
}

static __always_inline u32 current_tid(void)
{
	if (!records_ids_of_inner_pid_namespace())
		return bpf_get_current_pid_tgid();
	return task_id_in_namespace((void *)bpf_get_current_task());
}

#endif
