/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files in which runtimes name the code they generate: perf maps (perf_map_file.h) and jitdumps
 * (jitdump_file.h). They are read at the end of a recording, when processes may have ended, and
 * with them the mounts of their containers. So what there is when code of a process is first seen
 * stays open.
 */
#ifndef LIB_SYMBOL_RUNTIME_FILES_H
#define LIB_SYMBOL_RUNTIME_FILES_H

#include "scalar.h"

/* Processes, the newest, with two descriptors each: at most a quarter of what may be open. */
#define RUNTIME_FILES_KEPT 256

struct runtime_files;

int runtime_files_create(struct runtime_files **out);
void runtime_files_free(struct runtime_files **files);

/* Code of a process was seen; `since`: when it began, CLOCK_MONOTONIC in ns. */
void runtime_files_keep(struct runtime_files *files, u32 tgid, u64 since);

/* Open for reading, the caller closes them; negative: there is none. */
struct runtime_names {
	int perf_map;
	int jitdump;
};
struct runtime_names runtime_files_open(const struct runtime_files *files, u32 tgid, u64 since);

#endif
