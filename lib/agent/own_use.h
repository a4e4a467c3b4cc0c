/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU time and memory of this process, its threads and its child processes; CPU time includes
 * processes that have ended. BPF programs in other tasks and BPF maps in the kernel are not
 * counted.
 */
#ifndef LIB_AGENT_OWN_USE_H
#define LIB_AGENT_OWN_USE_H

#include <stdbool.h>

#include "scalar.h"

/* CPU time in ns. The value falls only if a process ends that no parent waits for. */
u64 own_cpu_ns(void);

/* Bytes: the sum of the processes' proportional set sizes, in which a page that several processes
 * have counts once. A process whose size may not be read counts as 0. */
u64 own_memory_bytes(void);

struct own_memory {
	u64 told; /* bytes; the last reported size */
	u64 most; /* the largest measured size */
};

/* Measures the size. True if it differs from `told` by an eighth or more; `told` is then updated.
 */
bool own_memory_look(struct own_memory *memory);

#endif
