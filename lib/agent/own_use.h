/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this process costs with its threads and all processes that it has started: CPU time, also of
 * processes that have ended, and memory. What its programs take in other tasks, and what the kernel
 * keeps for its maps, is not in it.
 */
#ifndef LIB_AGENT_OWN_USE_H
#define LIB_AGENT_OWN_USE_H

#include <stdbool.h>

#include "scalar.h"

/* In ns. It does not fall but when a process ends that nobody waits for. */
u64 own_cpu_ns(void);

/* Bytes: the sum of the processes' proportional set sizes, in which a page that several processes
 * have counts once. A process whose size may not be read counts as 0. */
u64 own_memory_bytes(void);

struct own_memory {
	u64 told; /* bytes; the size that others know */
	u64 most; /* of all looks */
};

/* True: `told` is another one now, since the size differs from it by an eighth. */
bool own_memory_look(struct own_memory *memory);

#endif
