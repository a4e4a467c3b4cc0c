/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which service a task belongs to, and which version of it: by rules, or by what its cgroup is
 * called. Of the innermost part of the path that says something:
 *
 *   NAME.service, NAME@INSTANCE.service   NAME
 *   docker-ID.scope, cri-containerd-ID.scope, libpod-ID.scope, .../ID   the first 12 letters of ID,
 *                                         as container tools show it (64 hexadecimal digits)
 *   run-u17.service, app-NAME-123.scope   run, app-NAME: numbers that are never the same again
 *   session-3.scope                       nothing: the user's slice is what stays
 *   NAME.slice, NAME.scope, NAME          NAME
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
