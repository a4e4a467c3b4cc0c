/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The service that the path of a cgroup names. The path is read from the root: the first unit,
 * container or user's slice was named by the machine's administrator, and is the owner of all that
 * lies below. Names below the owner are chosen by the owner, so the service is "OWNER/NAME" there.
 *
 *   /system.slice/NAME.service, .../NAME@INSTANCE.service   NAME
 *   docker-ID.scope, cri-containerd-ID.scope, libpod-ID.scope, .../ID   the first 12 letters of ID,
 *                                         as container tools show it (64 hexadecimal digits)
 *   lxc.payload.NAME                      NAME
 *   /user.slice/user-UID.slice/...        user-UID
 *   .../OWNER/.../NAME.service or .scope  OWNER/NAME, the innermost
 *   run-u17.service, app-NAME-123.scope   run, app-NAME: the number is different each time
 *   session-3.scope                       ignored: the user's slice is the owner
 *   NAME.slice, NAME, without an owner    NAME, the innermost
 */
#ifndef LIB_REPORT_CGROUP_SERVICE_H
#define LIB_REPORT_CGROUP_SERVICE_H

#include <stdbool.h>

#define CGROUP_SERVICE_BYTES 256

/* `name` has no control characters and is truncated to its room. False: the path names no
 * service. */
bool cgroup_service_name(const char *cgroup, char name[CGROUP_SERVICE_BYTES]);

#endif
