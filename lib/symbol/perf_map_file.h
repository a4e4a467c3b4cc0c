/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf map of a process (perf_map.h): /tmp/perf-PID.map, by its own /tmp and its own idea of
 * its id; of a process that has ended, by ours.
 *
 * Anybody may put such a file there. It counts if it is a regular file with one name, of the
 * process's user or root, and written since the process began: an id comes again.
 */
#ifndef LIB_SYMBOL_PERF_MAP_FILE_H
#define LIB_SYMBOL_PERF_MAP_FILE_H

#include "scalar.h"

/* `since`: when the process began, CLOCK_MONOTONIC in ns. A descriptor to read, or -ENOENT. */
int perf_map_open(u32 tgid, u64 since);

#endif
