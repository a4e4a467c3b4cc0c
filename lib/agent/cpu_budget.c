/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/cpu_budget.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define TOLD_STEP 8 /* changes of an eighth are reported */
#define DEPTH_MAX 4 /* generations of child processes */

static u64 process_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

/* The kernel adds up the sizes of all mappings. */
static u64 process_bytes(pid_t pid)
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

static u64 tree_sum(pid_t pid, use_of use, u32 depth);

static u64 children_sum(pid_t pid, const char *thread, use_of use, u32 depth)
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
		sum += tree_sum(child, use, depth + 1);
	fclose(list);
	return sum;
}

static u64 tree_sum(pid_t pid, use_of use, u32 depth)
{
	u64 sum = use(pid);
	struct dirent *entry;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = depth < DEPTH_MAX ? opendir(path) : NULL;
	while (threads && (entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			sum += children_sum(pid, entry->d_name, use, depth);
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
	return tree_sum(getpid(), process_ns, 0) + timeval_ns(&ended.ru_utime) +
	       timeval_ns(&ended.ru_stime);
}

u64 own_memory_bytes(void)
{
	return tree_sum(getpid(), process_bytes, 0);
}

bool own_memory_look(struct own_memory *memory)
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
#define AIM 0.9	  /* target share of the budget after it was exceeded */
#define EASY 0.6  /* the rate rises below this share of the budget */
#define RAISE 1.5 /* EASY * RAISE stays below AIM */

static u64 clamp(double frequency, u64 most)
{
	if (frequency < FLOOR_HZ)
		return FLOOR_HZ;
	return frequency > most ? most : (u64)frequency;
}

u64 cpu_budget_look(struct cpu_budget *budget, u64 cpu_ns, u64 time_ns)
{
	u64 cpu = cpu_ns > budget->cpu_ns ? cpu_ns - budget->cpu_ns : 0;
	u64 time = time_ns - budget->time_ns;

	if (budget->time_ns && time)
		budget->used = 100.0 * cpu / time / (budget->cpus ?: 1);
	if (budget->time_ns && time && budget->percent > 0 && budget->full) {
		if (budget->used > budget->percent)
			budget->frequency =
				clamp(budget->frequency * AIM * budget->percent / budget->used,
				      budget->full);
		else if (budget->used < EASY * budget->percent)
			budget->frequency = clamp(budget->frequency * RAISE + 1, budget->full);
	}
	budget->cpu_ns = cpu_ns;
	budget->time_ns = time_ns;
	return budget->frequency;
}
