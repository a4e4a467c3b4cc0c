/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs keep for who comes later: what threads are called and where they are, and the
 * paths of the cgroups that were made since the programs run. */
#ifndef STACKMAP_ABI_TASK_NAME_H
#define STACKMAP_ABI_TASK_NAME_H

#include "scalar.h"

struct task_name {
	u8 comm[16];
	u64 cgroup; /* its id; 0: not known */
};
ABI_SIZE(struct task_name, 24);

#define CGROUP_PATH_BYTES 504
#define CGROUP_PATHS 512U /* the latest */

struct cgroup_path {
	u64 id; /* 0: none, or being written */
	char path[CGROUP_PATH_BYTES];
};
ABI_SIZE(struct cgroup_path, 512);

#endif
