/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes this process one that can do nothing but compute, and talk over what it has open; or one
 * that holds nothing of its parent's. */
#ifndef LIB_PRIVILEGE_CONFINE_H
#define LIB_PRIVILEGE_CONFINE_H

#include <sys/types.h>

#include "scalar.h"

/*
 * From here on this process
 *   has no open file but `socket` and `lifeline`, and no memory that others see;
 *   has no capability, and is user and group nobody where it may become so;
 *   is killed when the other end of the pipe `lifeline` is closed, as it is when `parent` ends in
 *   whatever way; ends by itself after a minute of CPU time;
 *   may take `memory` bytes of memory besides what it has now, or less where we may, and is the
 *   first to go when its cgroup or the machine has none;
 *   leaves no core file, and nobody may trace it;
 *   can only read, receive and send on what it has open or is sent, get and free memory, and exit:
 *   every other system call gives EPERM.
 *
 * -errno: it is not confined; to be ended at once.
 */
int confine(int socket, int lifeline, u64 memory, pid_t parent);

/* Less of it, for a process that opens files of others: no open file but `socket`, no memory that
 * others see, the end with `parent`; signals for the terminal are not for it. */
int confine_files(int socket, pid_t parent);

#endif
