/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Service and version of a task: by rules, or by the path of its cgroup
 * (report/name/cgroup_service.h).
 *
 * A task in the root cgroup belongs to "kernel" if it is a kernel thread, else to "other". Only
 * rules set a version.
 */
#ifndef LIB_AGENT_SERVICE_NAMES_H
#define LIB_AGENT_SERVICE_NAMES_H

#include "stackmap/error.h"
#include "store/rows/window_rows.h"

#define SERVICE_KERNEL "kernel"
#define SERVICE_OTHER "other"

struct service_names;

/*
 * `rules`: "GLOB=NAME[:VERSION]". The first rule whose glob matches a cgroup's path wins. A rule
 * without NAME sets only the version. -EINVAL: `error` names the rule.
 */
int service_names_create(const char *const *rules, u32 count, struct service_names **out,
			 struct stackmap_error *error);
void service_names_free(struct service_names **names);

/* A function of type task_service_of; `arg` is a struct service_names. */
struct task_service service_names_of(void *arg, const char *cgroup, bool is_kernel_thread);

#endif
