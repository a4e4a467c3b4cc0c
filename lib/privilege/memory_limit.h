/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much memory this process and the processes that it starts may take together. Whoever parses
 * foreign files gets a part of that, so that a file costs its own names and never the memory of the
 * cgroup: an inner limit above the outer one is none.
 */
#ifndef LIB_PRIVILEGE_MEMORY_LIMIT_H
#define LIB_PRIVILEGE_MEMORY_LIMIT_H

#include "scalar.h"

/* Bytes: the least of the machine's memory, the limits of the cgroups that this process is in (up
 * to the root, memory.max of cgroup2 or memory.limit_in_bytes), and what memory_limit_lower() was
 * given. Cgroups are read at the first call, whose answer children inherit. */
u64 memory_limit(void);

/* Before children are started. */
void memory_limit_lower(u64 bytes);

/* Bytes of memory_limit() that this process may take. A sandbox sets them; UINT64_MAX: no bound. */
u64 memory_share(void);
void memory_share_set(u64 bytes);

/* memory_limit() for a process whose cgroups and mounts stand in files below `proc`, without the
 * machine's memory; UINT64_MAX: no limit. For tests. */
u64 memory_limit_of_cgroups(const char *proc);

#endif
