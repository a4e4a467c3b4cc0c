/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the threads of the machine from /proc. */
#ifndef LIB_CAPTURE_PROC_TASKS_H
#define LIB_CAPTURE_PROC_TASKS_H

#include <limits.h>
#include <stdbool.h>

#include "scalar.h"

#define TASK_COMM_BYTES 16

/* Calls each() for all threads. Stops at the first non-zero return and returns it. */
int proc_tasks_each(int (*each)(void *arg, u32 tgid, u32 tid), void *arg);

/* Returns the process id of a thread; 0: the thread has exited. */
u32 proc_task_process_id(u32 tid);

/* Reads the name of a thread, padded with zeros. False: the thread has exited. */
bool proc_task_comm(u32 tgid, u32 tid, char comm[TASK_COMM_BYTES]);

/* Reads the path of a thread's cgroup in the cgroup2 hierarchy. False: the thread has exited, or
 * has no cgroup. */
bool proc_task_cgroup(u32 tgid, u32 tid, char path[PATH_MAX]);

#endif
