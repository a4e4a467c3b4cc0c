/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory that this process and its children may take together. A process that parses files of
 * other users gets a part of this memory, so that a hostile file costs its own names and not the
 * memory of the whole cgroup: an inner limit above the outer limit would have no effect.
 */
#ifndef LIB_PRIVILEGE_MEMORY_LIMIT_H
#define LIB_PRIVILEGE_MEMORY_LIMIT_H

#include "scalar.h"

/* Bytes: the least of the machine's memory, the limits of the cgroups that this process is in (up
 * to the root, memory.max of cgroup2 or memory.limit_in_bytes), and what memory_limit_lower() was
 * given. Cgroups are read at the first call, whose answer children inherit. */
u64 memory_limit(void);

/* Lowers memory_limit(). Call before children are started. */
void memory_limit_lower(u64 bytes);

/* The part of memory_limit() that this process may take, in bytes; UINT64_MAX: no bound. A sandbox
 * sets its part. */
u64 memory_share(void);
void memory_share_set(u64 bytes);

/* The limit of the cgroups that the files below `proc` describe (cgroup, mountinfo), in bytes;
 * UINT64_MAX: no limit. For tests. */
u64 memory_limit_of_cgroups(const char *proc);

#endif
