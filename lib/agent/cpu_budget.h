/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPU time and memory of the agent, and the sampling rate that keeps its CPU time in a budget.
 * Above the budget the rate falls in proportion; well below the budget the rate rises by a half. A
 * part of the cost does not depend on the rate, so the rate has a floor.
 */
#ifndef LIB_AGENT_CPU_BUDGET_H
#define LIB_AGENT_CPU_BUDGET_H

#include <stdbool.h>

#include "scalar.h"

/*
 * CPU time and memory of this process, its threads and its child processes; CPU time includes
 * processes that have ended. BPF programs in other tasks and BPF maps in the kernel are not
 * counted.
 */

/* CPU time in ns. The value falls only if a process ends for which its parent does not wait. */
u64 own_cpu_ns(void);

/*
 * Memory in bytes: the sum of the processes' proportional set sizes, in which a page that several
 * processes share counts once. A process whose size may not be read counts as 0.
 */
u64 own_memory_bytes(void);

struct own_memory {
	u64 told; /* last reported size of the memory, bytes */
	u64 most; /* largest measured size of the memory, bytes */
};

/*
 * Measures the size of the memory. True if the size differs from `told` by an eighth or more;
 * `told` then becomes this size.
 */
bool own_memory_measure(struct own_memory *memory);

struct cpu_budget {
	double percent; /* CPU limit in percent of all CPUs; 0: no limit */
	u32 cpus;
	u64 full, frequency; /* `full`: requested rate; `frequency`: current rate, Hz */
	u64 cpu_ns, time_ns; /* CPU time of the agent, and time by the clock, at the last call of
				cpu_budget_update(), ns */
	double used; /* CPU usage between the last two calls of cpu_budget_update(), percent of all
			CPUs */
};

/* Measures the CPU time since the last call and returns the new sampling rate. */
u64 cpu_budget_update(struct cpu_budget *budget, u64 cpu_ns, u64 time_ns);

#endif
