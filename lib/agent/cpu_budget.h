/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often to sample, so that the agent costs no more than it may. When it was above its budget,
 * the rate goes down in proportion; when it is well below, up again by halves. What it costs has a
 * part that no rate changes, so the rate has a floor.
 */
#ifndef LIB_AGENT_CPU_BUDGET_H
#define LIB_AGENT_CPU_BUDGET_H

#include "scalar.h"

struct cpu_budget {
	double percent; /* of all CPUs; 0: no limit */
	u32 cpus;
	u64 full, frequency; /* Hz: what was asked for, and what it is now */
	u64 cpu_ns, time_ns; /* at the last look */
	double used;	     /* percent, from the look before to the last */
};

/* Looks at what was used since the last time, and says the rate for what comes. */
u64 cpu_budget_look(struct cpu_budget *budget, u64 cpu_ns, u64 time_ns);

#endif
