/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Controls the sampling rate so that the agent's CPU time stays in its budget. Above the budget the
 * rate falls in proportion; well below the budget the rate rises by a half. A part of the cost does
 * not depend on the rate, so the rate has a floor.
 */
#ifndef LIB_AGENT_CPU_BUDGET_H
#define LIB_AGENT_CPU_BUDGET_H

#include "scalar.h"

struct cpu_budget {
	double percent; /* of all CPUs; 0: no limit */
	u32 cpus;
	u64 full, frequency; /* Hz: requested rate, current rate */
	u64 cpu_ns, time_ns; /* at the last call */
	double used;	     /* percent, between the last two calls */
};

/* Measures the CPU time since the last call and returns the new sampling rate. */
u64 cpu_budget_look(struct cpu_budget *budget, u64 cpu_ns, u64 time_ns);

#endif
