/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/cpu_budget.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define TOLD_STEP 8 /* memory is reported if it changed by 1/8 or more */
#define DEPTH_MAX 4 /* number of generations of child processes that are counted */

static u64 process_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

/*
 * The proportional set size of a process, which the kernel sums up over all mappings
 * (smaps_rollup).
 */
static u64 process_memory_bytes(pid_t pid)
{
	unsigned long long kib = 0;
	char path[64], line[128];
	FILE *sizes;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	sizes = fopen(path, "re");
	if (!sizes)
		return 0;
	while (fgets(line, sizeof(line), sizes) && sscanf(line, "Pss: %llu", &kib) != 1)
		continue;
	fclose(sizes);
	return kib << 10;
}

typedef u64 (*use_of)(pid_t pid);

static u64 sum_over_process_tree(pid_t pid, use_of use, u32 depth);

static u64 sum_over_children(pid_t pid, const char *thread, use_of use, u32 depth)
{
	u64 sum = 0;
	char path[320];
	FILE *list;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, thread);
	list = fopen(path, "re");
	if (!list)
		return 0;
	while (fscanf(list, "%d", &child) == 1)
		sum += sum_over_process_tree(child, use, depth + 1);
	fclose(list);
	return sum;
}

static u64 sum_over_process_tree(pid_t pid, use_of use, u32 depth)
{
	u64 sum = use(pid);
	struct dirent *entry;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = depth < DEPTH_MAX ? opendir(path) : NULL;
	while (threads && (entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			sum += sum_over_children(pid, entry->d_name, use, depth);
	if (threads)
		closedir(threads);
	return sum;
}

static u64 timeval_ns(const struct timeval *time)
{
	return time->tv_sec * 1000000000ULL + time->tv_usec * 1000ULL;
}

u64 own_cpu_ns(void)
{
	struct rusage ended;

	getrusage(RUSAGE_CHILDREN, &ended);
	return sum_over_process_tree(getpid(), process_cpu_ns, 0) + timeval_ns(&ended.ru_utime) +
	       timeval_ns(&ended.ru_stime);
}

u64 own_memory_bytes(void)
{
	return sum_over_process_tree(getpid(), process_memory_bytes, 0);
}

bool own_memory_measure(struct own_memory *memory)
{
	u64 now = own_memory_bytes(), step = memory->told / TOLD_STEP;

	if (now > memory->most)
		memory->most = now;
	if (memory->told && now < memory->told + step && now > memory->told - step)
		return false;
	memory->told = now;
	return true;
}

#define FLOOR_HZ 1
#define AIM 0.9	  /* after the budget was exceeded, the rate aims at this share of the budget */
#define EASY 0.6  /* the rate rises if less than this share of the budget is used */
#define RAISE 1.5 /* factor by which the rate rises; EASY * RAISE stays below AIM */

static u64 clamp_frequency(double frequency, u64 most)
{
	if (frequency < FLOOR_HZ)
		return FLOOR_HZ;
	return frequency > most ? most : (u64)frequency;
}

u64 cpu_budget_update(struct cpu_budget *budget, u64 cpu_ns, u64 time_ns)
{
	u64 cpu = cpu_ns > budget->cpu_ns ? cpu_ns - budget->cpu_ns : 0;
	u64 time = time_ns - budget->time_ns;

	if (budget->time_ns && time)
		budget->used = 100.0 * cpu / time / (budget->cpus ?: 1);
	if (budget->time_ns && time && budget->percent > 0 && budget->full) {
		if (budget->used > budget->percent)
			budget->frequency = clamp_frequency(budget->frequency * AIM *
								    budget->percent / budget->used,
							    budget->full);
		else if (budget->used < EASY * budget->percent)
			budget->frequency =
				clamp_frequency(budget->frequency * RAISE + 1, budget->full);
	}
	budget->cpu_ns = cpu_ns;
	budget->time_ns = time_ns;
	return budget->frequency;
}
