/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The threads that there are, from /proc. */
#ifndef LIB_CAPTURE_PROC_TASKS_H
#define LIB_CAPTURE_PROC_TASKS_H

#include <limits.h>
#include <stdbool.h>

#include "scalar.h"

#define TASK_COMM_BYTES 16

/* Returns the first non-zero of `each`. */
int proc_tasks_each(int (*each)(void *arg, u32 tgid, u32 tid), void *arg);

/* The process of a thread; 0: it is gone. */
u32 proc_task_process(u32 tid);

/* Its name, and zeros behind it. False: it is gone. */
bool proc_task_comm(u32 tgid, u32 tid, char comm[TASK_COMM_BYTES]);

/* The cgroup it is in, of the cgroup2 hierarchy, as a path. False: it is gone, or it is in none. */
bool proc_task_cgroup(u32 tgid, u32 tid, char path[PATH_MAX]);

#endif
