/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The PID namespace of this process: BPF programs and /proc must use the same ids for tasks. */
#ifndef LIB_CAPTURE_PID_NAMESPACE_H
#define LIB_CAPTURE_PID_NAMESPACE_H

#include "config.h"
#include "stackmap/error.h"

/* Finds the namespace; in a namespace other than the initial one by a BPF program. -EOPNOTSUPP:
 * /proc is of another namespace; -ENOENT: /proc is not mounted. */
int pid_namespace_find(struct pid_namespace_id *out, struct stackmap_error *error);

/* The inode number of the namespace, as in struct pid_namespace_id; 0: the initial namespace. */
u32 pid_namespace_inode(void);

/* The name for thread id 0: "swapper", the idle tasks; in another namespace than the initial one
 * "outside", since all tasks outside of the namespace have id 0 there. */
const char *pid_namespace_name_of_zero(const struct pid_namespace_id *pids);

#endif
