/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads and a signal handler insert the same stacks into one map in parallel. After each round,
 * every count and every id is compared with the results of the inserts. Built with TSan and with
 * ASan + UBSan. The hash is degraded and the pool is tiny, so that collisions, lost races and all
 * kinds of exhaustion happen; the test asserts that each has happened.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "stackmap/stack_map.h"
#include "stress_hash.h"

#define THREADS 4
#define UNIVERSE 1500 /* stacks; more than 2^10 */
#define DEPTH_MAX 24
#define ROUNDS_MAX 50000
#define RESETS 200

#define KEEP_ALL ~0UL
#define KEEP_FEW                                                                                   \
	0x700000003fUL /* all stacks begin to probe at 64 slots, 8 different upper halves */

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

unsigned long stress_hash_keep = KEEP_ALL;

struct tally {
	int64_t id; /* first result of get_id; 0: not called yet */
	uint64_t refs;
	uint64_t drops;
};

static struct stackmap_map *map;
static struct tally tally[UNIVERSE];
static uint32_t universe; /* stacks used in this round */
static pthread_barrier_t barrier;
static int finished;
static uint64_t calls;

static uint32_t depth_of(uint32_t n)
{
	return 1 + n % DEPTH_MAX;
}

/* Stack n is the prefix of n + DEPTH_MAX and differs from others in its last frame only. */
static uint64_t frame_of(uint32_t n, uint32_t i)
{
	return i + 1 == depth_of(n) ? 0x400000 + n : 0x500000 + i;
}

static int64_t get_id(uint32_t n)
{
	uint64_t frames[DEPTH_MAX];

	for (uint32_t i = 0; i < depth_of(n); i++)
		frames[i] = frame_of(n, i);
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return stackmap_map_get_id(map, frames, depth_of(n));
}

static void get_and_tally(uint32_t n)
{
	int64_t id = get_id(n), first = 0;

	if (id < 0) {
		check(id == -ENOSPC);
		__atomic_fetch_add(&tally[n].drops, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&tally[n].refs, 1, __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&tally[n].id, &first, id, 0, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		check(first == id);
}

static void check_frames(uint32_t n, const struct stackmap_stack *stack, const uint64_t *frames)
{
	check(stack->depth == depth_of(n) && !stack->truncated);
	for (uint32_t i = 0; i < stack->depth; i++)
		check(frames[i] == frame_of(n, i));
}

/* Returns 0, or -ESTALE if a reset came in between. */
static int find_and_check(uint32_t n, int64_t id, uint64_t *ref_count)
{
	struct stackmap_stack stack;
	uint64_t frames[DEPTH_MAX];
	int code = stackmap_map_find(map, id, &stack, frames, DEPTH_MAX);

	if (code)
		return code;
	check_frames(n, &stack, frames);
	*ref_count = stack.ref_count;
	return 0;
}

static uint64_t drops_of(const struct stackmap_map_stat *stat)
{
	uint64_t sum = 0;

	for (int i = 0; i < STACKMAP_DROP_COUNT; i++)
		sum += stat->drops[i];
	return sum;
}

static void check_totals(const struct stackmap_map_stat *stat, uint64_t total)
{
	check(stat->refs + drops_of(stat) == total);
	check(stat->entries <= stat->max_entries);
	check(stat->inserts == stat->entries);
	check(stat->pool_used <= stat->pool_max);
}

/* Checks the counts while no thread calls get_id. */
static void check_round(const struct stackmap_map_stat *stat)
{
	uint64_t known = 0, drops = 0, ref_count;

	for (uint32_t n = 0; n < universe; n++) {
		drops += tally[n].drops;
		if (!tally[n].id)
			continue;
		known++;
		check(find_and_check(n, tally[n].id, &ref_count) == 0);
		check(ref_count == tally[n].refs);
	}
	check(stat->entries == known);
	check(drops_of(stat) == drops);
	check_totals(stat, calls);
}

static void signals_mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

static void on_alarm(int signal)
{
	static uint32_t turn;

	(void)signal;
	get_and_tally(__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % universe);
}

/* Only working threads receive the signal, so that no insert happens while a round is checked. */
static void *insert_rounds(void *arg)
{
	(void)arg;
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (finished)
			return NULL;
		signals_mask(SIG_UNBLOCK);
		for (int pass = 0; pass < 2; pass++)
			for (uint32_t n = 0; n < universe; n++)
				get_and_tally(n);
		signals_mask(SIG_BLOCK);
		pthread_barrier_wait(&barrier);
	}
}

static void signals_start(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 200}, {0, 200}};

	sigfillset(&action.sa_mask);
	signals_mask(SIG_BLOCK);
	check(sigaction(SIGALRM, &action, NULL) == 0);
	check(setitimer(ITIMER_REAL, &often, NULL) == 0);
}

/* The result that ends a series of rounds. */
struct goal {
	const char *what;
	unsigned long hash_keep;
	uint64_t pool_bytes;
	uint32_t universe;
	uint64_t lost_races;
	int drop; /* a cause, or STACKMAP_DROP_COUNT */
	uint64_t entries;
};

static int reached(const struct goal *goal, const struct stackmap_map_stat *sum)
{
	return sum->lost_races >= goal->lost_races && sum->entries >= goal->entries &&
	       (goal->drop == STACKMAP_DROP_COUNT || sum->drops[goal->drop] > 0);
}

/* Fills the rest of the map: a race may refuse a stack that fits, but it must not leave room that
 * cannot be used. */
static void fill_up(void)
{
	struct stackmap_map_stat stat;
	uint64_t expected;

	for (uint32_t n = 0; n < universe; n++)
		get_and_tally(n);
	stackmap_map_stat(map, &stat);
	expected = universe < stat.max_entries ? universe : stat.max_entries;
	if (!stat.drops[STACKMAP_DROP_POOL_FULL] && !stat.drops[STACKMAP_DROP_PROBE_LIMIT])
		check(stat.entries == expected);
}

static void round_run(struct stackmap_map_stat *sum)
{
	struct stackmap_map_stat stat;

	memset(tally, 0, sizeof(tally));
	calls = 0;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	fill_up();
	stackmap_map_stat(map, &stat);
	check_round(&stat);
	sum->lost_races += stat.lost_races;
	if (stat.entries > sum->entries)
		sum->entries = stat.entries;
	for (int i = 0; i < STACKMAP_DROP_COUNT; i++)
		sum->drops[i] += stat.drops[i];
	check(stackmap_map_reset(map, NULL) == 0);
}

static void threads_start(pthread_t *threads, void *(*run)(void *))
{
	for (int i = 0; i < THREADS; i++)
		check(pthread_create(&threads[i], NULL, run, NULL) == 0);
}

static void threads_join(pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void rounds_run(const struct goal *goal)
{
	struct stackmap_map_stat sum = {0};
	pthread_t threads[THREADS];
	int rounds = 0;

	stress_hash_keep = goal->hash_keep;
	universe = goal->universe;
	finished = 0;
	check(stackmap_map_create(STACKMAP_BITS_MIN, goal->pool_bytes, &map, NULL) == 0);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	threads_start(threads, insert_rounds);
	while (rounds++ < ROUNDS_MAX && !reached(goal, &sum))
		round_run(&sum);
	finished = 1;
	pthread_barrier_wait(&barrier);
	threads_join(threads);
	printf("%s: %d rounds, %lu stacks, %lu lost races\n", goal->what, rounds - 1,
	       (unsigned long)sum.entries, (unsigned long)sum.lost_races);
	check(reached(goal, &sum));
	stackmap_map_free(&map);
}

static void *insert_and_find(void *arg)
{
	uint64_t ref_count;
	uint32_t n = 0;

	(void)arg;
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		int64_t id = get_id(n % universe);
		int code = id < 0 ? 0 : find_and_check(n % universe, id, &ref_count);

		check(id > 0 || id == -ENOSPC);
		check(code == 0 || code == -ESTALE);
		n++;
	}
	return NULL;
}

static uint64_t counted, resets, refused_resets;

static void reset_and_count(void)
{
	struct stackmap_map_stat old;
	int code = stackmap_map_reset(map, &old);

	if (code) {
		check(code == -EBUSY);
		__atomic_fetch_add(&refused_resets, 1, __ATOMIC_RELAXED);
		return;
	}
	check_totals(&old, old.refs + drops_of(&old));
	__atomic_fetch_add(&counted, old.refs + drops_of(&old), __ATOMIC_RELAXED);
	__atomic_fetch_add(&resets, 1, __ATOMIC_RELAXED);
}

static void *reset_too(void *arg)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED))
		reset_and_count();
	return arg;
}

/* Each call is counted in exactly one generation, and an id never names another stack. */
static void resets_run(void)
{
	struct stackmap_map_stat last;
	pthread_t threads[THREADS], other;

	stress_hash_keep = KEEP_ALL;
	universe = UNIVERSE;
	calls = finished = 0;
	check(stackmap_map_create(STACKMAP_BITS_MIN, 0, &map, NULL) == 0);
	threads_start(threads, insert_and_find);
	check(pthread_create(&other, NULL, reset_too, NULL) == 0);
	while (__atomic_load_n(&resets, __ATOMIC_RELAXED) < RESETS ||
	       !__atomic_load_n(&refused_resets, __ATOMIC_RELAXED))
		reset_and_count();
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	threads_join(threads);
	pthread_join(other, NULL);
	stackmap_map_stat(map, &last);
	check(last.generation == 1 + resets);
	check(counted + last.refs + drops_of(&last) == calls);
	printf("resets: %lu, %lu refused, %lu calls\n", (unsigned long)resets,
	       (unsigned long)refused_resets, (unsigned long)calls);
	stackmap_map_free(&map);
}

int main(void)
{
	static const struct goal goals[] = {
		{"races", KEEP_ALL, 0, 700, 5, STACKMAP_DROP_COUNT, 700},
		{"collisions", KEEP_FEW, 0, 60, 1, STACKMAP_DROP_COUNT, 60},
		{"probe limit", KEEP_FEW, 0, 700, 1, STACKMAP_DROP_PROBE_LIMIT, 64},
		{"table full", KEEP_ALL, 0, UNIVERSE, 1, STACKMAP_DROP_TABLE_FULL, 1 << 10},
		{"pool full", KEEP_ALL, 8192, 700, 1, STACKMAP_DROP_POOL_FULL, 32},
	};

	signals_start();
	for (unsigned int i = 0; i < sizeof(goals) / sizeof(goals[0]); i++)
		rounds_run(&goals[i]);
	resets_run();
	return 0;
}
