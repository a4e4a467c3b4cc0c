/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which PID namespace we are in: programs and /proc must mean the same tasks by the same ids. */
#ifndef LIB_CAPTURE_PID_NAMESPACE_H
#define LIB_CAPTURE_PID_NAMESPACE_H

#include "config.h"
#include "stackmap/error.h"

/* In a namespace inside of another one the kernel is asked, by a BPF program. -EOPNOTSUPP: /proc is
 * of another namespace; -ENOENT: it is not there. */
int pid_namespace_find(struct pid_namespace_id *out, struct stackmap_error *error);

/* Its number, as in struct pid_namespace_id; 0: the initial one. */
u32 pid_namespace_inode(void);

/* What is called by the id 0: the idle tasks; in a namespace whoever is outside. */
const char *pid_namespace_zero(const struct pid_namespace_id *pids);

#endif
