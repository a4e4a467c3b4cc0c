/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Current names and cgroups of threads, for the file `trace` (the reader of a recording learns them
 * from the task ring). Only instances with files keep them. If there are more threads than entries,
 * the least recently updated ones go first.
 */
#ifndef BPF_TASK_NAMES_H
#define BPF_TASK_NAMES_H

#include "kept_records.h"
#include "state/instance.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct task_name);
} task_names SEC(".maps");

static __always_inline void task_name_store(u32 tid, const char *comm, u64 cgroup)
{
	struct task_name name = {.cgroup = cgroup};

	bpf_probe_read_kernel_str(name.comm, sizeof(name.comm), comm);
	bpf_map_update_elem(&task_names, &tid, &name, BPF_ANY);
}

#endif
