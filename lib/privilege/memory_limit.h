/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory that this process and its children together may use. A process that parses files of
 * other users gets a part of this memory. A hostile file then costs only its own names, not the
 * memory of the whole cgroup. A limit of a process would have no effect if it were above the
 * cgroup's limit.
 */
#ifndef LIB_PRIVILEGE_MEMORY_LIMIT_H
#define LIB_PRIVILEGE_MEMORY_LIMIT_H

#include "scalar.h"

/*
 * Returns how much memory may be used, in bytes: the smallest of the machine's memory, the limits
 * of the cgroups that this process is in (up to the root: memory.max of cgroup2 or
 * memory.limit_in_bytes), and the value given to memory_limit_lower(). Cgroups are read at the
 * first call. Child processes inherit the result.
 */
u64 memory_limit(void);

/* Lowers the result of memory_limit(). Call it before children are started. */
void memory_limit_lower(u64 bytes);

/*
 * Returns the part of memory_limit() that this process may use, in bytes; UINT64_MAX: no limit. A
 * sandbox sets its own part.
 */
u64 memory_limit_of_this_process(void);
void memory_limit_of_this_process_set(u64 bytes);

/*
 * Returns the limit of the cgroups that the files `cgroup` and `mountinfo` in the folder `proc`
 * describe, in bytes; UINT64_MAX: no limit. Public for tests.
 */
u64 memory_limit_of_cgroups(const char *proc);

#endif
