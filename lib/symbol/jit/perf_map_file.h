/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf map of a process (perf_map.h): perf-PID.map in /tmp, by its own /tmp and its own idea of
 * its id.
 *
 * Anybody may put such a file there. It counts if it is a regular file with one name, of the
 * process's user or root, and written since the process began.
 */
#ifndef LIB_SYMBOL_PERF_MAP_FILE_H
#define LIB_SYMBOL_PERF_MAP_FILE_H

#include "runtime_process.h"

/* The /tmp of a process that lives, or -ENOENT. Whoever has it open finds the map there later, too,
 * when the process and its mounts are gone. */
int perf_map_folder(u32 tgid);

/* The map in a folder, open for reading; or -ENOENT. */
int perf_map_open(int folder, const struct runtime_process *process);

#endif
