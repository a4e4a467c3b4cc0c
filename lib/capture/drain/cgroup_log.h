/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which cgroups are in the file, and what they are called: paths in a cgroup2 file system. Without
 * one, no cgroup is known.
 */
#ifndef LIB_CAPTURE_CGROUP_LOG_H
#define LIB_CAPTURE_CGROUP_LOG_H

#include "task_name.h"
#include "trace/write/writer.h"

struct cgroup_log;

/* Where the first one is mounted here, to be freed; NULL: nowhere, or without memory. */
char *cgroup_mount_find(void);

/* Of the file system mounted at `mount`; NULL: there is none. -ENOMEM. */
int cgroup_log_create(const char *mount, struct cgroup_log **out);
void cgroup_log_free(struct cgroup_log **log);

/* What the programs keep (CGROUP_PATHS of them), which outlives the log. */
void cgroup_log_use_paths(struct cgroup_log *log, const struct cgroup_path *paths);

/* A file begins: none is in it yet. */
void cgroup_log_begin(struct cgroup_log *log);

/* The rings are read again: new directories may be there. */
void cgroup_log_round(struct cgroup_log *log);

/* Each gives the number in the file, 0 for one that is not known, and writes what is not in the
 * file yet. By the kernel's id: */
int cgroup_log_id(struct cgroup_log *log, struct trace_writer *writer, u64 id, u32 *number);
/* By its path: */
int cgroup_log_path(struct cgroup_log *log, struct trace_writer *writer, const char *path,
		    u32 *number);

#endif
