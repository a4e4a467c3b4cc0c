/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An agent whose cost has a fixed part and a part that is proportional to its rate, minute after
 * minute. */
#include "agent/cpu_budget.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "unit_test.h"

#define MINUTE (60 * 1000 * NS_PER_MS)

struct load {
	double fixed, by_hz; /* percent of all CPUs */
	u64 cpu_ns, time_ns;
};

static u64 run_budget_for_one_minute(struct cpu_budget *budget, struct load *load)
{
	double percent = load->fixed + load->by_hz * budget->frequency;

	load->time_ns += MINUTE;
	load->cpu_ns += percent / 100 * MINUTE * budget->cpus;
	return cpu_budget_update(budget, load->cpu_ns, load->time_ns);
}

static struct cpu_budget begin(double percent, struct load *load)
{
	struct cpu_budget budget = {.percent = percent, .cpus = 4, .full = 97, .frequency = 97};

	load->time_ns = 1;
	assert_int_equal(cpu_budget_update(&budget, load->cpu_ns, load->time_ns), 97);
	return budget;
}

TEST(a_cheap_agent_keeps_its_rate)
{
	struct load load = {.fixed = 0.1, .by_hz = 0.001};
	struct cpu_budget budget = begin(0.5, &load);

	for (u32 i = 0; i < 10; i++)
		assert_int_equal(run_budget_for_one_minute(&budget, &load), 97);
}

TEST(an_expensive_agent_lowers_its_rate)
{
	struct load load = {.fixed = 0.05, .by_hz = 0.02};
	struct cpu_budget budget = begin(0.5, &load);
	u64 before;

	assert_in_range(run_budget_for_one_minute(&budget, &load), 10, 30);
	for (u32 i = 0; i < 10; i++) {
		before = budget.frequency;
		run_budget_for_one_minute(&budget, &load);
		assert_true(load.fixed + load.by_hz * budget.frequency <= 0.5);
	}
	assert_int_equal(budget.frequency, before);
}

TEST(the_rate_rises_when_the_budget_allows)
{
	struct load load = {.by_hz = 0.05};
	struct cpu_budget budget = begin(0.5, &load);

	run_budget_for_one_minute(&budget, &load);
	assert_true(budget.frequency < 20);
	load.by_hz = 0.001;
	for (u32 i = 0; i < 10; i++)
		run_budget_for_one_minute(&budget, &load);
	assert_int_equal(budget.frequency, 97);
}

TEST(the_rate_has_a_lower_limit)
{
	struct load load = {.fixed = 50};
	struct cpu_budget budget = begin(0.5, &load);

	for (u32 i = 0; i < 5; i++)
		run_budget_for_one_minute(&budget, &load);
	assert_int_equal(budget.frequency, 1);
}

TEST(without_a_budget_nothing_changes)
{
	struct load load = {.fixed = 50};
	struct cpu_budget budget = begin(0, &load);

	assert_int_equal(run_budget_for_one_minute(&budget, &load), 97);
	assert_true(budget.used > 49 && budget.used < 51);
}

TEST(used_cpu_time_is_counted)
{
	u64 before = own_cpu_ns(), busy = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 20 * NS_PER_MS;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < busy)
		continue;
	assert_true(own_cpu_ns() >= before + 20 * NS_PER_MS);
}

/* The memory of a child counts until the child has ended. */
TEST(memory_is_that_of_all_processes)
{
	const size_t bytes = 32 << 20;
	u64 before = own_memory_bytes();
	int ready[2];
	char byte;
	pid_t pid;

	if (!before) {
		printf("skip: this kernel does not say how large a process is\n");
		skip();
	}
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		char *memory = malloc(bytes);

		memset(memory, 1, bytes);
		if (write(ready[1], memory, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(own_memory_bytes() >= before + bytes * 3 / 4);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(own_memory_bytes() < before + bytes * 3 / 4);
}
