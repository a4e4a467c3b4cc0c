/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Confines this process. A process confined by confine() can only compute, and communicate over
 * descriptors that it has open. A process that must open files calls confine_file_worker_process():
 * it only loses the descriptors and shared memory of its parent.
 */
#ifndef LIB_PRIVILEGE_CONFINE_H
#define LIB_PRIVILEGE_CONFINE_H

#include <sys/types.h>

#include "scalar.h"

/*
 * After the call this process
 *   has only the open files `socket` and `lifeline`, and no memory that other processes see;
 *   has no capability, and is user and group nobody if it may change its user;
 *   is killed when the other end of the pipe `lifeline` is closed, which happens when `parent`
 *   ends in any way; ends after a minute of CPU time;
 *   may take `memory` bytes of memory in addition to its present memory, or less if its limits are
 *   lower, and is the first victim of the OOM killer;
 *   leaves no core file, and cannot be traced;
 *   can only read, receive and send on its descriptors and those that it is sent, allocate and
 *   free memory, and exit: all other system calls fail with EPERM.
 *
 * -errno: the process is not confined, and must exit at once.
 */
int confine(int socket, int lifeline, u64 memory, pid_t parent);

/*
 * A weaker form, for a process that opens files of other users: only `socket` stays open, memory
 * that other processes see is unmapped, the process ends with `parent`, and signals of the terminal
 * are ignored. 0 or -errno.
 */
int confine_file_worker_process(int socket, pid_t parent);

#endif
