/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts unique stacks that are wrong, lost or duplicated, in the stack map and in
 * BPF_MAP_TYPE_STACK_TRACE on the same events.
 *
 *   exactness [STACKS EVENTS]
 *
 * Threads go down a binary tree of calls and raise one event at its end; the number of the path
 * identifies the true stack, and the program reads the true return addresses from its own frames.
 * Stacks come in a shuffled order; all threads raise an event of one stack, then of the next.
 * Without arguments: 90 % fill of a default stack map, then the case that the kernel's map is known
 * to lose events in: 5,000 stacks and 50,000 events.
 *
 * Exit: 0, 1 something was not exact, 77 not possible here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exactness.h"
#include "stack_map.h"
#include "stack_pack.h"
#include "stack_table.h"

#include "exactness.skel.h"

#define SKIP 77
#define SEED 0x9e3779b97f4a7c15ULL

static u64 truth[EXACTNESS_PATHS][EXACTNESS_DEPTH];

struct run {
	u32 stacks;
	u32 events;
	u32 *path; /* number of the path that each group of events takes */
	struct exactness_bpf *bpf;
	struct table_geometry geometry;
	void *table;
	struct exactness_result *results; /* result of each event */
};

struct worker {
	struct run *run;
	pthread_t thread;
	u32 number;
};

struct verdict {
	u64 lost;
	u64 wrong;
	u64 duplicated;
	u64 peer_lost;
};

/* If set: the leaf stores its return addresses here and raises no event. */
static _Thread_local u64 *own_frames;

/* Entry 0 is the place of the event, which all paths share. */
static void frames_read(void **frame, u64 *frames)
{
	u32 i;

	for (i = 1; i < EXACTNESS_DEPTH; i++, frame = *frame)
		frames[i] = (u64)frame[1];
}

static __attribute__((noipa)) void arrive(void)
{
	if (own_frames)
		frames_read(__builtin_frame_address(0), own_frames);
	else
		syscall(SYS_getppid);
}

/* The empty asm statements keep the compiler from merging the two calls, so each has a return
 * address of its own. */
static __attribute__((noipa)) void descend(u32 path, u32 levels)
{
	if (!levels) {
		arrive();
	} else if (path & 1) {
		descend(path >> 1, levels - 1);
		__asm__ volatile("# right");
	} else {
		descend(path >> 1, levels - 1);
		__asm__ volatile("# left");
	}
}

static void truth_read(void)
{
	u32 path;

	for (path = 0; path < EXACTNESS_PATHS; path++) {
		own_frames = truth[path];
		descend(path, EXACTNESS_LEVELS);
	}
	own_frames = NULL;
}

static u32 path_of(const struct run *run, u32 event)
{
	return run->path[event / EXACTNESS_THREADS];
}

static void *worker_run(void *arg)
{
	struct worker *worker = arg;
	struct run *run = worker->run;
	u32 tid = gettid(), event;

	if (bpf_map_update_elem(bpf_map__fd(run->bpf->maps.threads), &tid, &worker->number,
				BPF_ANY))
		return NULL;
	for (event = worker->number; event < run->events; event += EXACTNESS_THREADS) {
		run->bpf->bss->event_of_thread[worker->number] = event;
		descend(path_of(run, event), EXACTNESS_LEVELS);
	}
	return NULL;
}

static void workers_run(struct run *run)
{
	struct worker workers[EXACTNESS_THREADS];
	u32 i;

	for (i = 0; i < EXACTNESS_THREADS; i++) {
		workers[i] = (struct worker){.run = run, .number = i};
		pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]);
	}
	for (i = 0; i < EXACTNESS_THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

/* Paths in a shuffled order (Fisher and Yates). Each path is repeated once for each thread, so that
 * all threads race to insert its stack. */
static int paths_choose(struct run *run)
{
	u32 groups = run->events / EXACTNESS_THREADS, group;

	run->path = calloc(groups, sizeof(*run->path));
	if (!run->path)
		return -1;
	srandom(1);
	for (group = 0; group < groups; group++) {
		u32 other = random() % (group + 1);

		run->path[group] = run->path[other];
		run->path[other] = group % run->stacks;
	}
	return 0;
}

static void *map_memory(const struct bpf_map *map, u64 bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int run_load(struct run *run)
{
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 0 || table_geometry_set(&run->geometry, TABLE_BITS_DEFAULT, cpus, 0))
		return -1;
	run->bpf = exactness_bpf__open();
	if (!run->bpf)
		return -1;
	memcpy((void *)&run->bpf->rodata->geometry, &run->geometry, sizeof(run->geometry));
	*(s64 *)&run->bpf->rodata->getppid_number = SYS_getppid;
	bpf_map__set_value_size(run->bpf->maps.table, run->geometry.bytes);
	if (exactness_bpf__load(run->bpf))
		return -1;
	run->table = map_memory(run->bpf->maps.table, run->geometry.bytes);
	run->results = map_memory(run->bpf->maps.results,
				  EXACTNESS_EVENTS_MAX * sizeof(struct exactness_result));
	if (!run->table || !run->results)
		return -1;
	stack_table_init(run->table, &run->geometry, 1, SEED);
	return exactness_bpf__attach(run->bpf);
}

static void run_free(struct run *run)
{
	if (run->table)
		munmap(run->table, run->geometry.bytes);
	if (run->results)
		munmap(run->results, EXACTNESS_EVENTS_MAX * sizeof(struct exactness_result));
	exactness_bpf__destroy(run->bpf);
	free(run->path);
}

static bool frames_match(struct run *run, u32 id, u32 path)
{
	struct table_view *element;
	u32 i;

	if (stack_map_find(run->table, &run->geometry, id, &element) ||
	    IDENTITY_DEPTH(element->identity) != EXACTNESS_DEPTH)
		return false;
	for (i = 1; i < EXACTNESS_DEPTH; i++)
		if (stack_frame(element->word, IDENTITY_FLAGS(element->identity), i) !=
		    truth[path][i])
			return false;
	return true;
}

/* No stack matches two paths, so an id that two paths share is wrong. */
static void judge_events(struct run *run, struct verdict *verdict)
{
	static s32 id_of_path[EXACTNESS_PATHS];
	u32 event;

	memset(id_of_path, 0, sizeof(id_of_path));
	for (event = 0; event < run->events; event++) {
		const struct exactness_result *result = &run->results[event];
		u32 path = path_of(run, event);

		verdict->peer_lost += result->bucket < 0;
		if (result->id <= 0) {
			verdict->lost++;
			continue;
		}
		verdict->wrong += !frames_match(run, result->id, path);
		verdict->duplicated += id_of_path[path] && id_of_path[path] != result->id;
		id_of_path[path] = result->id;
	}
}

static int figures_print(struct run *run, const struct verdict *verdict)
{
	u64 bad = verdict->wrong + verdict->lost + verdict->duplicated;
	struct table_stat stat;

	stack_table_stat(run->table, &run->geometry, &stat);
	bad += stat.entries != run->stacks;
	bad += stat.refs != run->events;
	printf("%u stacks (%.0f %% fill), %u events, %u threads: wrong %llu, lost %llu, "
	       "duplicated %llu, lost races %llu; STACK_TRACE with %u buckets lost %.1f %%\n",
	       run->stacks, 100.0 * run->stacks / stat.max_entries, run->events, EXACTNESS_THREADS,
	       (unsigned long long)verdict->wrong, (unsigned long long)verdict->lost,
	       (unsigned long long)verdict->duplicated, (unsigned long long)stat.lost_races,
	       EXACTNESS_BUCKETS, 100.0 * verdict->peer_lost / run->events);
	printf("FIGURE\twrong, lost or duplicated of %u stacks\t%llu\t<= 0\t%s\n", run->stacks,
	       (unsigned long long)bad, bad ? "missed" : "met");
	return bad ? 1 : 0;
}

static int run_case(u32 stacks, u32 events)
{
	struct run run = {.stacks = stacks, .events = events};
	struct verdict verdict = {0};
	int status = 1;

	if (paths_choose(&run) || run_load(&run)) {
		printf("skipped: BPF programs cannot be loaded here\n");
		status = SKIP;
	} else {
		workers_run(&run);
		judge_events(&run, &verdict);
		status = figures_print(&run, &verdict);
	}
	run_free(&run);
	return status;
}

static int be_quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

int main(int argc, char **argv)
{
	u32 stacks = argc == 3 ? strtoul(argv[1], NULL, 10) : EXACTNESS_PATHS * 9 / 10;
	u32 events = argc == 3 ? strtoul(argv[2], NULL, 10) : 2 * EXACTNESS_THREADS * stacks;
	int status;

	if (argc == 2 || !stacks || stacks > EXACTNESS_PATHS || events % EXACTNESS_THREADS ||
	    events / EXACTNESS_THREADS < stacks || events > EXACTNESS_EVENTS_MAX)
		return 2;
	libbpf_set_print(be_quiet);
	truth_read();
	status = run_case(stacks, events);
	return status || argc == 3 ? status : run_case(5000, 50000);
}
