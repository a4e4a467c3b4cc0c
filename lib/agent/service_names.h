/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which service a task belongs to, and which version of it: by rules, or by the path of its cgroup
 * (report/name/cgroup_service.h).
 *
 * Tasks that are in no cgroup but the root are of "kernel" if they are its threads, else of
 * "other". A version is known by rules only.
 */
#ifndef LIB_AGENT_SERVICE_NAMES_H
#define LIB_AGENT_SERVICE_NAMES_H

#include "stackmap/error.h"
#include "store/rows/window_rows.h"

#define SERVICE_KERNEL "kernel"
#define SERVICE_OTHER "other"

struct service_names;

/* `rules`: "GLOB=NAME[:VERSION]", the first whose glob matches a cgroup's path wins; without a NAME
 * it only says the version. -EINVAL: `error` names the rule. */
int service_names_create(const char *const *rules, u32 count, struct service_names **out,
			 struct stackmap_error *error);
void service_names_free(struct service_names **names);

/* A task_service_of: `arg` is a struct service_names. */
struct task_service service_names_of(void *arg, const char *cgroup, bool is_kernel_thread);

#endif
