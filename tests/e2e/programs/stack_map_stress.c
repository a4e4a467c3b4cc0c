/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stress test of the stack map in the kernel: several processes and a timer insert the same stacks
 * in parallel. Then this program reads the table and compares it with the results of get_id: each
 * stack occurs once, each id is right, refs + drops = calls. The sizes of pools, tables and hashes
 * make each kind of drop happen.
 *
 * Exit: 0, 1 something is not true, 77 not possible here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stack_map.h"
#include "stack_map_stress.h"
#include "stack_map_stress.skel.h"
#include "stack_pack.h"

#define SKIP 77
#define BITS TABLE_BITS_MIN
#define SYSCALLS 300 /* system calls of each process in a round */
#define ROUNDS_MAX 200
#define TIMER_HZ 4000
#define TALLIES_BYTES (STRESS_UNIVERSE_MAX * sizeof(struct stress_tally))

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* The result that ends a series of rounds. */
struct goal {
	const char *what;
	unsigned long hash_keep;
	u32 pool_words;
	u32 universe;
	int drop; /* a cause, or TABLE_DROP_COUNT */
	bool races;
};

/* Results of the rounds so far. */
struct seen {
	u64 stacks; /* most stacks in a round */
	u64 refs;
	u64 lost_races;
	u64 drops[TABLE_DROP_COUNT];
	bool lines; /* CPUs other than the first have counted in their own cache line */
};

struct stress {
	struct stack_map_stress_bpf *programs;
	struct table_geometry geometry;
	void *table;
	struct stress_tally *tallies;
	struct stress_control *control;
	struct bpf_link *links[1 + STRESS_CPUS_MAX];
	u32 link_count;
};

static void *map_memory(const struct bpf_map *map, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	check(memory != MAP_FAILED);
	return memory;
}

static void programs_load(struct stress *stress, const struct goal *goal)
{
	struct stack_map_stress_bpf *programs = stack_map_stress_bpf__open();
	int code;

	check(programs);
	programs->rodata->hash_keep = goal->hash_keep;
	memcpy((void *)&programs->rodata->geometry, &stress->geometry, sizeof(stress->geometry));
	bpf_map__set_value_size(programs->maps.table, stress->geometry.bytes);
	code = stack_map_stress_bpf__load(programs);
	if (code == -EPERM) {
		printf("skipped: no permission to load BPF programs\n");
		exit(SKIP);
	}
	check(code == 0);
	stress->programs = programs;
}

static void stress_load(struct stress *stress, const struct goal *goal)
{
	check(table_geometry_set(&stress->geometry, BITS, libbpf_num_possible_cpus(),
				 goal->pool_words) == 0);
	programs_load(stress, goal);
	stress->table = map_memory(stress->programs->maps.table, stress->geometry.bytes);
	stress->tallies = map_memory(stress->programs->maps.tallies, TALLIES_BYTES);
	stress->control = &stress->programs->bss->control;
	stack_table_init(stress->table, &stress->geometry, 1, 12345);
	stress->control->universe = goal->universe;
}

static void stress_unload(struct stress *stress)
{
	munmap(stress->table, stress->geometry.bytes);
	munmap(stress->tallies, TALLIES_BYTES);
	stack_map_stress_bpf__destroy(stress->programs);
}

static void link_add(struct stress *stress, struct bpf_link *link)
{
	check(link);
	stress->links[stress->link_count++] = link;
}

static void timers_attach(struct stress *stress)
{
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(clock),
		.freq = 1,
		.sample_freq = TIMER_HZ,
	};
	struct bpf_program *program = stress->programs->progs.on_timer;

	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && cpu < STRESS_CPUS_MAX; cpu++) {
		int fd = syscall(SYS_perf_event_open, &clock, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			link_add(stress, bpf_program__attach_perf_event(program, fd));
	}
	check(stress->link_count > 0);
}

static void programs_attach(struct stress *stress)
{
	stress->link_count = 0;
	timers_attach(stress);
	link_add(stress, bpf_program__attach(stress->programs->progs.on_syscall));
}

/* Returns when no program runs any more: links are freed after a grace period, and closing a
 * timer's event waits for its CPU. */
static void programs_detach(struct stress *stress)
{
	while (stress->link_count)
		bpf_link__destroy(stress->links[--stress->link_count]);
	for (u64 before = ~0ULL, now = 0; before != now;) {
		before = atomic_load_acquire(&stress->control->calls);
		syscall(SYS_membarrier, 1 /* GLOBAL: a grace period of RCU */, 0, 0);
		now = atomic_load_acquire(&stress->control->calls);
	}
}

static pid_t worker_start(const int *gate)
{
	pid_t pid = fork();
	char byte;

	check(pid >= 0);
	if (pid > 0)
		return pid;
	close(gate[1]);
	if (read(gate[0], &byte, 1) != 0)
		_exit(1);
	for (int i = 0; i < SYSCALLS; i++)
		syscall(SYS_getppid);
	_exit(0);
}

/* The workers wait at a pipe until the programs know the pids of all of them. */
static void workers_run(struct stress *stress)
{
	int gate[2], status;

	check(pipe(gate) == 0);
	for (int i = 0; i < STRESS_PROCESSES; i++)
		stress->control->pids[i] = 0;
	for (int i = 0; i < STRESS_PROCESSES; i++)
		stress->control->pids[i] = worker_start(gate);
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < STRESS_PROCESSES; i++)
		check(wait(&status) > 0 && status == 0);
}

/* Returns the number of an element's stack, and checks each of its frames. */
static u32 element_number(const struct table_view *element)
{
	u32 depth = IDENTITY_DEPTH(element->identity), flags = IDENTITY_FLAGS(element->identity);
	u32 n = stack_frame(element->word, flags, depth - 1) % STRESS_LAST;

	check(n < STRESS_UNIVERSE_MAX && depth == STRESS_DEPTH(n));
	check(!!(flags & STACK_NARROW) == (n % 3 != 0));
	for (u32 i = 0; i < depth; i++)
		check(stack_frame(element->word, flags, i) == STRESS_FRAME(n, i));
	return n;
}

/* Returns the pool words that the elements take. */
static u64 check_elements(const struct stress *stress)
{
	static bool seen[STRESS_UNIVERSE_MAX];
	u64 words = 0;

	memset(seen, 0, sizeof(seen));
	for (u32 index = 0; index <= stress->geometry.slot_mask; index++) {
		struct table_view *element = stack_map_at(stress->table, &stress->geometry, index);
		u32 n;

		if (!element)
			continue;
		n = element_number(element);
		check(!seen[n]);
		seen[n] = true;
		words += TABLE_ELEMENT_HEADER_WORDS +
			 stack_words(STRESS_DEPTH(n), IDENTITY_FLAGS(element->identity));
		check(stress->tallies[n].id == stack_map_id(stress->table, index));
		check(stress->tallies[n].refs == element->ref_count);
	}
	for (u32 n = 0; n < STRESS_UNIVERSE_MAX; n++)
		check(seen[n] == !!stress->tallies[n].id);
	return words;
}

static u64 sum_drops(const struct table_stat *stat)
{
	u64 sum = 0;

	for (int i = 0; i < TABLE_DROP_COUNT; i++)
		sum += stat->drops[i];
	return sum;
}

static void check_totals(const struct stress *stress, const struct table_stat *stat)
{
	u64 refused = 0;

	for (u32 n = 0; n < STRESS_UNIVERSE_MAX; n++)
		refused += stress->tallies[n].drops;
	check(stress->control->failures == 0);
	check(stat->refs + sum_drops(stat) == stress->control->calls);
	check(sum_drops(stat) == refused);
	check(stat->inserts == stat->entries);
	check(stat->entries <= stat->max_entries);
	check(stat->pool_used <= stat->pool_words);
	check(stress->control->timer_runs > 0);
}

static bool other_lines_used(const struct stress *stress)
{
	const struct table_cpu *line =
		(struct table_cpu *)((struct table_header *)stress->table + 1);

	for (u32 cpu = 1; cpu < stress->geometry.cpus; cpu++)
		if (line[cpu].inserts || line[cpu].drops[TABLE_DROP_TABLE_FULL])
			return true;
	return stress->geometry.cpus == 1;
}

static void seen_add(struct seen *seen, const struct stress *stress, const struct table_stat *stat)
{
	if (stat->entries > seen->stacks)
		seen->stacks = stat->entries;
	seen->refs += stat->refs;
	seen->lost_races += stat->lost_races;
	for (int i = 0; i < TABLE_DROP_COUNT; i++)
		seen->drops[i] += stat->drops[i];
	seen->lines |= other_lines_used(stress);
}

/* Fills one empty map. */
static void round_run(const struct goal *goal, struct seen *seen)
{
	struct stress stress = {0};
	struct table_stat stat;

	stress_load(&stress, goal);
	programs_attach(&stress);
	workers_run(&stress);
	programs_detach(&stress);
	stack_table_stat(stress.table, &stress.geometry, &stat);
	check(check_elements(&stress) + stat.wasted == stat.pool_used);
	check_totals(&stress, &stat);
	seen_add(seen, &stress, &stat);
	stress_unload(&stress);
}

static bool reached(const struct goal *goal, const struct seen *seen)
{
	return seen->lines && (seen->lost_races || !goal->races) &&
	       (goal->drop == TABLE_DROP_COUNT || seen->drops[goal->drop]);
}

int main(void)
{
	static const struct goal goals[] = {
		{"races", ~0UL, 0, 900, TABLE_DROP_COUNT, true},
		{"probe limit", 0x700000003fUL, 0, 900, TABLE_DROP_PROBE_LIMIT, false},
		{"table full", ~0UL, 0, 3000, TABLE_DROP_TABLE_FULL, true},
		{"pool full", ~0UL, TABLE_POOL_WORDS_MIN, 900, TABLE_DROP_POOL_FULL, false},
	};

	for (u32 i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
		struct seen seen = {0};
		int rounds = 0;

		while (rounds++ < ROUNDS_MAX && !reached(&goals[i], &seen))
			round_run(&goals[i], &seen);
		printf("%s: %d rounds, %llu stacks, %llu references, %llu lost races\n",
		       goals[i].what, rounds - 1, (unsigned long long)seen.stacks,
		       (unsigned long long)seen.refs, (unsigned long long)seen.lost_races);
		fflush(stdout);
		check(reached(&goals[i], &seen));
	}
	return 0;
}
