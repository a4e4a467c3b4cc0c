/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process that generates code, and which files count as written by it. */
#ifndef LIB_SYMBOL_RUNTIME_PROCESS_H
#define LIB_SYMBOL_RUNTIME_PROCESS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "scalar.h"

struct runtime_process {
	u32 tgid;
	u64 since; /* when it began, CLOCK_MONOTONIC in ns: ids are used again */
	u64 began; /* the same by CLOCK_BOOTTIME, to a tick; 0: not looked at while it lived */
	u32 user;
	u32 inner_id; /* its id in its own pid namespace */
};

/* Fills in what the kernel says of a process while it lives; false: it does not. */
bool runtime_process_read(struct runtime_process *process);

/* A regular file of its user or root, written since it began. */
bool runtime_process_wrote(const struct runtime_process *process, const struct stat *status);

/* /proc/TGID/NAME, or NULL. */
FILE *runtime_process_open(u32 tgid, const char *name);

#endif
