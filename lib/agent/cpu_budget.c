/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/cpu_budget.h"

#define FLOOR_HZ 1
#define AIM 0.9	  /* target share of the budget after it was exceeded */
#define EASY 0.6  /* the rate rises below this share of the budget */
#define RAISE 1.5 /* EASY * RAISE stays below AIM */

static u64 clamp(double frequency, u64 most)
{
	if (frequency < FLOOR_HZ)
		return FLOOR_HZ;
	return frequency > most ? most : (u64)frequency;
}

static u64 choose(const struct cpu_budget *budget)
{
	if (budget->used > budget->percent)
		return clamp(budget->frequency * AIM * budget->percent / budget->used,
			     budget->full);
	if (budget->used < EASY * budget->percent)
		return clamp(budget->frequency * RAISE + 1, budget->full);
	return budget->frequency;
}

u64 cpu_budget_look(struct cpu_budget *budget, u64 cpu_ns, u64 time_ns)
{
	u64 cpu = cpu_ns > budget->cpu_ns ? cpu_ns - budget->cpu_ns : 0;
	u64 time = time_ns - budget->time_ns;

	if (budget->time_ns && time)
		budget->used = 100.0 * cpu / time / (budget->cpus ?: 1);
	if (budget->time_ns && time && budget->percent > 0 && budget->full)
		budget->frequency = choose(budget);
	budget->cpu_ns = cpu_ns;
	budget->time_ns = time_ns;
	return budget->frequency;
}
