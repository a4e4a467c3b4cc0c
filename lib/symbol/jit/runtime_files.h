/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files in which runtimes name the code that they generate: perf maps (perf_map.h) and jitdumps
 * (jitdump.h). They are read at the end of a recording, when processes may have ended, and with
 * them the mounts of their containers. Files that exist when code of a process is first seen are
 * therefore kept open.
 *
 * Any user can put such a file there. A file counts if it is a regular file of the process's user
 * or of root, written since the process began.
 */
#ifndef LIB_SYMBOL_RUNTIME_FILES_H
#define LIB_SYMBOL_RUNTIME_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "scalar.h"

/* A process that generates code. */
struct runtime_process {
	u32 tgid;
	u64 since; /* when the process started, CLOCK_MONOTONIC, ns; tells it from another process
		      with the same id */
	u64 began; /* when the process started, CLOCK_BOOTTIME, ns, to a tick; 0 = not read while
		      the process lived */
	u32 user;
	u32 inner_id; /* the process's id in its own PID namespace */
};

/* Reads the members after `since` from /proc; false: the process is gone. */
bool runtime_process_read(struct runtime_process *process);

/* True for a regular file that belongs to the process's user or to root and was written since the
 * process started. */
bool can_process_have_written_file(const struct runtime_process *process,
				   const struct stat *status);

/* Opens /proc/TGID/NAME for reading; NULL: it cannot be opened. */
FILE *runtime_process_open(u32 tgid, const char *name);

/* Opens the /tmp of a living process as an O_PATH descriptor; or -ENOENT. By this descriptor the
 * perf map is still found when the process and its mounts are gone. */
int perf_map_open_folder(u32 tgid);

/* Opens perf-PID.map in a folder for reading, PID by the pid namespace of the process; or -ENOENT.
 * A file with a second name does not count. */
int perf_map_open(int folder, const struct runtime_process *process);

/*
 * Opens the jitdump of a living process for reading; or -ENOENT. It is a file jit-PID.dump in any
 * folder, PID by the pid namespace of the process. By custom its writer keeps the beginning of the
 * file mapped executable, for tracers. The process chooses which file it maps, so path and links do
 * not matter.
 */
int jitdump_open(const struct runtime_process *process);

/* The number of processes whose files stay open, the newest ones; with two descriptors each they
 * take at most a quarter of RLIMIT_NOFILE. */
#define RUNTIME_FILES_KEPT 256

struct runtime_files;

int runtime_files_create(struct runtime_files **out);
void runtime_files_free(struct runtime_files **files);

/* Opens the files of a process and keeps them open. `since`: when the process started,
 * CLOCK_MONOTONIC, ns. */
void runtime_files_keep(struct runtime_files *files, u32 tgid, u64 since);

/* Descriptors of the perf map and the jitdump of a process, for the caller to close; negative = no
 * such file. */
struct runtime_names {
	int perf_map;
	int jitdump;
};
struct runtime_names runtime_files_open(const struct runtime_files *files, u32 tgid, u64 since);

#endif
