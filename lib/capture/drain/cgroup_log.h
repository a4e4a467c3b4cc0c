/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cgroups that a recording file has, each with its path in the cgroup2 file system. Without a
 * mounted cgroup2 file system no cgroup is known.
 */
#ifndef LIB_CAPTURE_CGROUP_LOG_H
#define LIB_CAPTURE_CGROUP_LOG_H

#include "kept_records.h"
#include "trace/write/writer.h"

struct cgroup_log;

/* Returns the mount point of the first cgroup2 file system; the caller frees it. NULL: no such file
 * system is mounted, or memory is short. */
char *cgroup_mount_find(void);

/* Makes a log without cgroups. `mount`: mount point of the cgroup2 file system; NULL: not mounted.
 * -ENOMEM. */
int cgroup_log_create(const char *mount, struct cgroup_log **out);
void cgroup_log_free(struct cgroup_log **log);

/* Sets the array in which the BPF programs keep the paths of new cgroups (CGROUP_PATHS elements).
 * The array must outlive the log. */
void cgroup_log_use_paths(struct cgroup_log *log, const struct cgroup_path *paths);

/* Begins a new recording file, which has no cgroups yet. */
void cgroup_log_begin_file(struct cgroup_log *log);

/* Begins a round of reading the rings: new cgroups may exist, so the directories of the cgroup2
 * file system may be read once more. */
void cgroup_log_begin_round(struct cgroup_log *log);

/* Both functions set *number to the number of a cgroup in the file, 0 if the cgroup is not known,
 * and write the cgroup unless the file has it. The first function takes the kernel's id of the
 * cgroup, the second one its path. */
int cgroup_log_write_and_number_by_id(struct cgroup_log *log, struct trace_writer *writer, u64 id,
				      u32 *number);
int cgroup_log_write_and_number_by_path(struct cgroup_log *log, struct trace_writer *writer,
					const char *path, u32 *number);

/* Returns the kernel's id of a cgroup of the file; 0: the id or the cgroup is not known. */
u64 cgroup_log_id_of_number(const struct cgroup_log *log, u32 number);

#endif
