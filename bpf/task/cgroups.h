/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cgroup of a task, by its id in the cgroup2 hierarchy, and the paths of cgroups that may be
 * deleted before their id is read.
 */
#ifndef BPF_CGROUPS_H
#define BPF_CGROUPS_H

#include <bpf/bpf_core_read.h>

#include "kernel/kernel_types.h"
#include "state/instance.h"
#include "state/map.h"
#include "task_name.h"

SHARED_ARRAY_MAP(cgroup_paths, CGROUP_PATHS, struct cgroup_path);

u32 cgroups_made;

/* 0 if the kernel has no cgroups. */
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
 * Runs one at a time: the kernel holds the lock of the path's buffer. A path that does not fit is
 * not kept, since the cut path would name another cgroup.
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

#endif
