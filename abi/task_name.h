/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records that programs keep for later readers: names and cgroups of threads, and the paths of
 * cgroups that were made since the programs run.
 */
#ifndef STACKMAP_ABI_TASK_NAME_H
#define STACKMAP_ABI_TASK_NAME_H

#include "scalar.h"

struct task_name {
	u8 comm[16];
	u64 cgroup; /* id of its cgroup; 0: not known */
};
ABI_SIZE(struct task_name, 24);

#define CGROUP_PATH_BYTES 504
#define CGROUP_PATHS 512U /* the latest paths that are kept */

struct cgroup_path {
	u64 id; /* id of the cgroup; 0: empty, or being written */
	char path[CGROUP_PATH_BYTES];
};
ABI_SIZE(struct cgroup_path, 512);

#endif
