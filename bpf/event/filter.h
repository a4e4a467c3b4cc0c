/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of an instance. An event that a filter leaves out counts as not produced: no counter
 * has it.
 */
#ifndef BPF_FILTER_H
#define BPF_FILTER_H

#include "condition.h"
#include "config.h"
#include "state/instance.h"
#include "state/map.h"
#include "state/task_ids.h"

/*
 * The threads of -p and of the command. User space inserts the first threads; a fork adds a thread,
 * an exit removes one. Without -p and command the map has one entry: its buckets cost time at the
 * start.
 */
HASH_MAP(followed, 1 << 17, u32, struct followed);

/*
 * True if events of this thread are recorded. A task without an id in this PID namespace is never
 * followed.
 */
static __always_inline bool is_thread_followed(u32 tid)
{
	struct followed *task;

	if (records_ids_of_inner_pid_namespace() && !tid)
		return false;
	if (!config.by_task)
		return true;
	task = bpf_map_lookup_elem(&followed, &tid);
	return task && task->from == FOLLOW_NOW;
}

static __always_inline bool task_comm_matches_filter(const struct task_struct *task)
{
	u64 comm[COMM_BYTES / sizeof(u64)];

	copy_comm_of_typed_task(comm, task);
	return comm_globs_match(&config.comms, (const u8 *)comm);
}

static __always_inline bool cpu_matches_filter(u32 cpu)
{
	return cpu < CONFIG_CPUS_MAX && config.cpu_mask[cpu / 64] >> (cpu % 64) & 1;
}

#define CGROUP_LEVELS_MAX 64

/*
 * Sets *found if the cgroup of the current task at a level is the chosen one. The comparison by id
 * needs no map.
 */
static long cgroup_at_level_matches_filter(u32 level, u32 *found)
{
	u64 id = bpf_get_current_ancestor_cgroup_id(level);

	*found = id == config.cgroup;
	return *found || !id;
}

static __always_inline bool current_cgroup_matches_filter(void)
{
	u32 found = 0;

	bpf_loop(CGROUP_LEVELS_MAX, cgroup_at_level_matches_filter, &found, 0);
	return found;
}

/*
 * Ids of processes whose events are left out; 0: no process. A process clears its entry at exit,
 * since its id is reused.
 */
u32 own_tgid; /* process id of the recorder */
/* process ids of the recorder's child processes, which open and parse files */
u32 own_processes[OWN_PROCESSES];

/* Finds the entry of a process: in the slot of its id, or in the next slot; else NULL. */
static __always_inline u32 *find_own_process_slot(u32 tgid)
{
	u32 *slot = &own_processes[tgid % OWN_PROCESSES];
	u32 *next = &own_processes[(tgid + 1) % OWN_PROCESSES];

	return *slot == tgid ? slot : *next == tgid ? next : NULL;
}

static __always_inline bool is_own_process(u32 tgid)
{
	return tgid && (tgid == own_tgid || find_own_process_slot(tgid));
}

/*
 * True if `task`, the current thread, passes the filters that the user has chosen. `tid` is its id.
 */
static __always_inline bool thread_passes_chosen_filters(const struct task_struct *task, u32 tid,
							 u32 cpu)
{
	if (config.by_cpu && !cpu_matches_filter(cpu))
		return false;
	/* The comparison of the name comes first: it costs less than the lookup of the thread. */
	if (config.by_comm && !task_comm_matches_filter(task))
		return false;
	if (!is_thread_followed(tid))
		return false;
	return !config.cgroup || current_cgroup_matches_filter();
}

/* True if an event of the current thread is recorded. */
static __always_inline bool current_thread_passes_filters(u32 cpu)
{
	const struct task_struct *task = current_typed_task();
	u64 ids = pid_and_tid_of_typed_task(task);

	return !is_own_process(ids >> 32) && thread_passes_chosen_filters(task, ids, cpu);
}

#endif
