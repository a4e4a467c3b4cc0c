/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names and cgroups of tasks. Events carry only a thread id; forks, renames (execve is one), moves
 * to another cgroup and exits go into the task ring with the time from which they hold. They cost
 * no time per event. The same hooks keep `followed` up to date.
 */
#ifndef BPF_TASKS_H
#define BPF_TASKS_H

#include <bpf/bpf_core_read.h>

#include "deferral/execve.h"
#include "event/filter.h"
#include "kept_records.h"
#include "kernel/kernel_types.h"
#include "ring_writer.h"
#include "state/instance.h"
#include "state/map.h"
#include "task_names.h"

/*
 * Tasks that have exited. The kernel's work for a task on its way out belongs to the task, so the
 * task leaves `followed` EXITED_MAX exits later.
 *
 * sched_process_free would be the right moment, but it comes from RCU in whatever task RCU
 * interrupts, and a kernel may keep programs away from some tasks: on a virtual machine whose agent
 * was such a task, every call in it was missed and not counted, while ftrace saw it.
 * sched_process_exit comes in the task itself.
 */

#define EXITED_MAX 1024 /* number of remembered exited tasks; a power of two */

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
static __always_inline bool has_thread_id(u64 task, u32 tid)
{
	return tid_of((struct task_struct *)task) == tid;
}

static __always_inline void delete_followed_thread(u64 task, u32 tid)
{
	struct followed *own = bpf_map_lookup_elem(&followed, &tid);

	if (own && (!own->task || own->task == task || !has_thread_id(own->task, tid)))
		bpf_map_delete_elem(&followed, &tid);
}

/*
 * Remembers a task that has exited in the place of the oldest one: the recorder stops following
 * that oldest task.
 */
static __always_inline void remember_exited_task(u64 task, u32 tid)
{
	u32 index = atomic_fetch_add_acq_rel(&exited_next, 1) & (EXITED_MAX - 1);
	struct exited *place = bpf_map_lookup_elem(&exited, &index);

	if (!place)
		return;
	if (place->task)
		delete_followed_thread(place->task, place->tid);
	place->task = task;
	place->tid = tid;
}

/*
 * The cgroup of a task, by its id in the cgroup2 hierarchy, and the paths of cgroups that may be
 * deleted before their id is read.
 */

SHARED_ARRAY_MAP(cgroup_paths, CGROUP_PATHS, struct cgroup_path);

u32 cgroups_made;

/* The cgroup id of a task; 0 if the kernel has no cgroups. */
static __always_inline u64 cgroup_of(const struct task_struct *task)
{
	if (!bpf_core_field_exists(task->cgroups))
		return 0;
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/*
 * True for a cgroup of the cgroup2 hierarchy; other hierarchies may exist. Each task is in cgroup2,
 * mounted or not.
 */
static __always_inline bool is_of_cgroup2(const struct cgroup *cgroup)
{
	const struct task_struct *task = (void *)bpf_get_current_task();

	if (!bpf_core_field_exists(task->cgroups))
		return false;
	return BPF_CORE_READ(cgroup, root) == BPF_CORE_READ(task, cgroups, dfl_cgrp, root);
}

/*
 * The kernel runs this program on one CPU at a time, under the lock of the path's buffer. A path
 * that does not fit is not kept, since the cut path would name another cgroup.
 */
SEC("stackmap.raw_tp/cgroup_mkdir")
int cgroup_made(struct bpf_raw_tracepoint_args *ctx)
{
	const struct cgroup *cgroup = (void *)ctx->args[0];
	u32 index = cgroups_made % CGROUP_PATHS;
	struct cgroup_path *made;
	long bytes;

	if (!is_of_cgroup2(cgroup))
		return 0;
	made = bpf_map_lookup_elem(&cgroup_paths, &index);
	if (!made)
		return 0;
	atomic_exchange_acq_rel(&made->id, 0);
	bytes = bpf_probe_read_kernel_str(made->path, sizeof(made->path), (void *)ctx->args[1]);
	if (bytes <= 0 || bytes == sizeof(made->path))
		return 0;
	atomic_store_release(&made->id, BPF_CORE_READ(cgroup, kn, id));
	cgroups_made++;
	return 0;
}

/* Created by user space: values of RING_BYTES(task_slots, sizeof(struct task_slot)), one per CPU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct ring_header));
} task_rings SEC(".maps");

u64 tasks_lost;	 /* number of records that found the task ring full */
u64 follow_lost; /* number of children for which `followed` had no room */

static __always_inline struct task_slot *task_slot_take(struct ring_header *ring, u64 *position)
{
	u32 index;

	if (config.flight) {
		*position = atomic_fetch_add_acq_rel(&ring->head, 1);
	} else {
		*position = ring_reserve_positions(ring, config.task_slots, 1);
		if (!*position)
			return NULL;
	}
	index = *position % config.task_slots;
	core_one_register(index);
	if (index >= config.task_slots)
		return NULL;
	return (struct task_slot *)(ring + 1) + index;
}

static __always_inline void record_task_change(enum task_change change,
					       const struct task_struct *task, u32 tid,
					       const char *comm)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct ring_header *ring = bpf_map_lookup_elem(&task_rings, &cpu);
	u64 position, cgroup = cgroup_of(task);
	struct task_slot *slot;

	if (config.has_files && change != TASK_EXIT)
		task_name_store(tid, comm, cgroup);
	slot = ring ? task_slot_take(ring, &position) : NULL;
	if (slot && config.flight && ring_claim(&slot->commit, position) < CLAIM_FRESH)
		slot = NULL;
	if (!slot) {
		atomic_add_relaxed(&tasks_lost, 1);
		return;
	}
	slot->tid = tid;
	slot->stamp = STAMP_OF(bpf_ktime_get_ns(), change, 0);
	slot->cgroup = cgroup;
	slot->tgid = tgid_of(task);
	bpf_probe_read_kernel_str(slot->comm, sizeof(slot->comm), comm);
	atomic_store_release(&slot->commit, COMMIT_OF(position));
}

/*
 * Removes the entry of a thread id whose former task was followed and is not freed yet: the id's
 * new task is not followed.
 */
static __always_inline void unfollow_reused_tid(u32 tid)
{
	struct followed *former = config.by_task ? bpf_map_lookup_elem(&followed, &tid) : NULL;

	if (former && former->task)
		bpf_map_delete_elem(&followed, &tid);
}

/*
 * A child is followed if its parent is; without -p and a command, if the child is in the namespace.
 */
static __always_inline bool is_child_followed(const struct task_struct *parent, u32 tid)
{
	return is_thread_followed(config.by_task ? tid_of(parent) : tid);
}

SEC("stackmap.raw_tp/sched_process_fork")
int task_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0];
	struct task_struct *child = (void *)ctx->args[1];
	u32 tid = tid_of(child);
	struct followed now = {.task = (u64)child, .from = FOLLOW_NOW};

	if (records_ids_of_inner_pid_namespace() && tid == FIRST_IN_NAMESPACE)
		namespace_ended = true;
	if (!is_child_followed(parent, tid)) {
		unfollow_reused_tid(tid);
		return 0;
	}
	if (config.by_task && bpf_map_update_elem(&followed, &tid, &now, BPF_ANY))
		atomic_add_relaxed(&follow_lost, 1);
	record_task_change(TASK_FORK, child, tid, child->comm);
	return 0;
}

SEC("stackmap.raw_tp/task_rename")
int task_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	u32 tid = tid_of(task);

	if (is_thread_followed(tid))
		record_task_change(TASK_RENAME, task, tid, (void *)ctx->args[1]);
	return 0;
}

/*
 * Most threads of a process whose moves are recorded. The kernel holds a lock during the walk, with
 * interrupts off: some 0.5 us for each thread.
 */
#define THREADS_MAX 4096

struct thread_walk {
	const struct list_head *node, *end;
};

static long record_thread_move(u32 i, struct thread_walk *walk)
{
	u32 offset = bpf_core_field_offset(struct task_struct, thread_node), tid;
	const struct task_struct *task = (const void *)walk->node - offset;

	if (!walk->node || walk->node == walk->end)
		return 1;
	tid = tid_of(task);
	if (is_thread_followed(tid))
		record_task_change(TASK_MOVE, task, tid, task->comm);
	walk->node = BPF_CORE_READ(task, thread_node.next);
	return 0;
}

/*
 * Records the move of one thread, or of all threads of a process: the task is then the leader, the
 * first of the threads.
 */
SEC("stackmap.raw_tp/cgroup_attach_task")
int task_move(struct bpf_raw_tracepoint_args *ctx)
{
	const struct cgroup *to = (void *)ctx->args[0];
	struct task_struct *task = (void *)ctx->args[2];
	bool is_process = ctx->args[3];
	struct thread_walk walk;

	if (!is_of_cgroup2(to))
		return 0;
	walk.node = &task->thread_node;
	walk.end = &BPF_CORE_READ(task, signal)->thread_head;
	core_rare_loop(is_process ? THREADS_MAX : 1, record_thread_move, &walk);
	return 0;
}

/*
 * Moves the entry of a thread that calls execve: the thread gets the id of its process. The first
 * thread, which had this id, may be freed already, and its entry with it. `old_tid` is the
 * thread's id before execve; 0: not known, as in a PID namespace.
 */
static __always_inline void follow_execing_thread(const struct task_struct *task, u32 tid,
						  u32 old_tid)
{
	struct followed now = {.task = (u64)task, .from = FOLLOW_NOW};

	if (!config.by_task || tid == old_tid ||
	    (!is_thread_followed(old_tid) && !is_thread_followed(tid)))
		return;
	if (bpf_map_update_elem(&followed, &tid, &now, BPF_ANY))
		atomic_add_relaxed(&follow_lost, 1);
	bpf_map_delete_elem(&followed, &old_tid);
}

/* Begins to follow the command: before its execve it ran code of the recorder. */
SEC("stackmap.raw_tp/sched_process_exec")
int task_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	u32 tid = tid_of(task);
	struct followed *own;

	execve_record_end();
	follow_execing_thread(task, tid, records_ids_of_inner_pid_namespace() ? 0 : ctx->args[1]);
	own = bpf_map_lookup_elem(&followed, &tid);
	if (!own)
		return 0;
	own->task = (u64)task;
	if (own->from != FOLLOW_FROM_EXEC)
		return 0;
	own->from = FOLLOW_NOW;
	record_task_change(TASK_RENAME, task, tid, task->comm);
	return 0;
}

/*
 * Records the name of an exiting task: no process may know the name when a flight buffer with its
 * events is written.
 */
static __always_inline void record_exiting_name(const struct task_struct *task, u32 tid)
{
	if (config.flight && is_thread_followed(tid))
		record_task_change(TASK_EXIT, task, tid, task->comm);
}

/* Called when a task is freed. In a PID namespace the task has lost its ids before. */
SEC("stackmap.raw_tp/sched_process_free")
int task_free(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	u32 tid;

	if (records_ids_of_inner_pid_namespace())
		return 0;
	tid = tid_of(task);
	record_exiting_name(task, tid);
	if (config.by_task)
		delete_followed_thread((u64)task, tid);
	return 0;
}

/*
 * Ends the pause that a process set to freeze the instance, if that process was killed meanwhile.
 */
static __always_inline void end_freeze_of_killed_process(void)
{
	atomic_and_relaxed(&paused, ~PAUSE_SNAPSHOT);
	freezer_tgid = 0;
}

SEC("stackmap.raw_tp/sched_process_exit")
int task_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u32 tid = current_tid(), *own;

	if (records_ids_of_inner_pid_namespace())
		record_exiting_name((void *)ctx->args[0], tid);
	if (config.by_task && bpf_map_lookup_elem(&followed, &tid))
		remember_exited_task(ctx->args[0], tid);
	if (tid == own_tgid)
		own_tgid = 0;
	own = find_own_process_slot(tid);
	if (own)
		*own = 0;
	if (tid && tid == freezer_tgid)
		end_freeze_of_killed_process();
	return 0;
}

#endif
