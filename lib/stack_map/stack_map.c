/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack map of a process: two tables, one in use and one empty. A reset swaps the tables, waits
 * until no thread uses the old table (struct in_use), and returns the pages of the old table to the
 * kernel, so that it reads as zeroes again. A reset can therefore not fail for lack of memory.
 */
#include "stack_map.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "scalar.h"
#include "stack_map/table_find.h"
#include "stack_pack.h"
#include "stackmap/stack_map.h"

/*
 * Waits until no thread uses the pointer from before a swap. The threads that use the pointer
 * (users) take no lock.
 *
 * The scheme is that of sleepable RCU (P. McKenney, "Sleepable RCU", LWN 2006), with one counter
 * instead of two per stripe, since a user that has incremented the counter of a stripe decrements
 * the same counter. Each user is counted in one of two phases. A waiter directs new users to the
 * other phase and waits until the first phase has no users left. Phases only guarantee progress:
 * new users never delay a waiter. Correctness depends on the order of these accesses, all of them
 * sequentially consistent:
 *
 *   user:    counter + 1, then load the pointer
 *   waiter:  store the pointer, then read the counter
 *
 * A user that the waiter did not see therefore sees the new pointer. A user may read the phase and
 * increment the counter much later. A waiter therefore first waits until the idle phase has no
 * users.
 */

/* A stripe has a pair of cache lines of its own, because adjacent lines are fetched together. */
struct in_use_stripe {
	u64 users[2];
	u64 reserved[14];
} __attribute__((aligned(128)));

struct in_use {
	u32 phase;
	u32 stripe_count;
	struct in_use_stripe *stripes;
};

/* Counts a user in. Async-signal-safe. Returns the argument of in_use_uncount_user(). */
static inline u64 *in_use_count_user(struct in_use *in_use, u32 cpu)
{
	u32 phase = __atomic_load_n(&in_use->phase, __ATOMIC_RELAXED);
	u64 *users = &in_use->stripes[cpu % in_use->stripe_count].users[phase];

	__atomic_fetch_add(users, 1, __ATOMIC_SEQ_CST);
	return users;
}

static inline void in_use_uncount_user(u64 *users)
{
	__atomic_fetch_sub(users, 1, __ATOMIC_RELEASE);
}

/*
 * Waits until no user is counted in a phase any more. A user stays for less than a microsecond, so
 * the waiter yields the CPU instead of sleeping.
 */

static void wait_until_phase_has_no_users(struct in_use *in_use, u32 phase)
{
	for (u32 i = 0; i < in_use->stripe_count; i++)
		while (__atomic_load_n(&in_use->stripes[i].users[phase], __ATOMIC_SEQ_CST))
			sched_yield();
}

_Static_assert((int)STACKMAP_DROP_COUNT == TABLE_DROP_COUNT, "a cause of drops is missing");
_Static_assert(STACKMAP_DEPTH_MAX == STACK_USER_DEPTH_MAX, "depth limits differ");

struct stackmap_map {
	void *table; /* the table that is in use, one of `tables` */
	void *tables[2];
	u64 generation; /* generation of `table` */
	u64 seed;
	u32 resetting; /* 1: a reset is running */
	struct table_geometry geometry;
	struct in_use in_use;
};

static u32 current_cpu(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 ? 0 : cpu;
}

static u64 random_seed(void)
{
	struct timespec now;
	u64 seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec << 32 ^ now.tv_nsec ^ (u64)getpid() << 20;
}

static int map_tables(struct stackmap_map *map)
{
	for (int i = 0; i < 2; i++) {
		void *pages = mmap(NULL, map->geometry.bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		map->tables[i] = pages == MAP_FAILED ? NULL : pages;
		if (!map->tables[i])
			return -ENOMEM;
	}
	map->table = map->tables[0];
	stack_table_init(map->table, &map->geometry, map->generation, map->seed);
	return 0;
}

static int set_geometry(struct table_geometry *geometry, unsigned int bits, u64 pool_bytes,
			struct stackmap_error *error)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (bits < STACKMAP_BITS_MIN || bits > STACKMAP_BITS_MAX)
		return error_set(error, ERANGE, "bits %u: not in %d to %d", bits, STACKMAP_BITS_MIN,
				 STACKMAP_BITS_MAX);
	if (pool_bytes &&
	    (pool_bytes < 8ULL * TABLE_POOL_WORDS_MIN || pool_bytes > 8ULL * TABLE_POOL_WORDS_MAX))
		return error_set(error, ERANGE, "pool of %llu bytes: not in %u to %u",
				 (unsigned long long)pool_bytes, 8 * TABLE_POOL_WORDS_MIN,
				 8 * TABLE_POOL_WORDS_MAX);
	return table_geometry_set(geometry, bits, cpus > 0 ? cpus : 1, pool_bytes / 8);
}

static struct stackmap_map *allocate_map(const struct table_geometry *geometry)
{
	struct stackmap_map *map = calloc(1, sizeof(*map));
	struct in_use_stripe *stripes;

	stripes = aligned_alloc(sizeof(*stripes), geometry->cpus * sizeof(*stripes));
	if (!map || !stripes) {
		free(map);
		free(stripes);
		return NULL;
	}
	memset(stripes, 0, geometry->cpus * sizeof(*stripes));
	map->geometry = *geometry;
	map->generation = 1;
	map->seed = random_seed();
	map->in_use.stripes = stripes;
	map->in_use.stripe_count = geometry->cpus;
	return map;
}

int stackmap_map_create(unsigned int bits, uint64_t pool_bytes, struct stackmap_map **out,
			struct stackmap_error *error)
{
	struct table_geometry geometry;
	struct stackmap_map *map;
	int code = out ? set_geometry(&geometry, bits, pool_bytes, error)
		       : error_set(error, EINVAL, "no place for the stack map is given (NULL)");

	if (code)
		return code;
	map = allocate_map(&geometry);
	if (!map || map_tables(map)) {
		stackmap_map_free(&map);
		return error_set(error, ENOMEM, "a stack map of 2 x %llu bytes: %s",
				 (unsigned long long)geometry.bytes, strerror(ENOMEM));
	}
	*out = map;
	return 0;
}

void stackmap_map_free(struct stackmap_map **map)
{
	if (!map || !*map)
		return;
	for (int i = 0; i < 2; i++)
		if ((*map)->tables[i])
			munmap((*map)->tables[i], (*map)->geometry.bytes);
	free((*map)->in_use.stripes);
	free(*map);
	*map = NULL;
}

int64_t stackmap_map_get_id(struct stackmap_map *map, const uint64_t *frames, uint32_t depth)
{
	u32 cpu = current_cpu();
	struct stack stack;
	u64 *users;
	s64 id;

	if (!map || !frames || depth == 0)
		return -EINVAL;
	stack.flags = STACK_USER;
	if (depth > STACKMAP_DEPTH_MAX) {
		depth = STACKMAP_DEPTH_MAX;
		stack.flags |= STACK_TRUNCATED;
	}
	stack.depth = depth;
	memcpy(stack.word, frames, depth * sizeof(*frames));
	stack_pack(&stack);
	users = in_use_count_user(&map->in_use, cpu);
	id = stack_map_get_id(__atomic_load_n(&map->table, __ATOMIC_SEQ_CST), &map->geometry, cpu,
			      &stack);
	in_use_uncount_user(users);
	return id;
}

int stackmap_map_find(struct stackmap_map *map, uint32_t id, struct stackmap_stack *stack,
		      uint64_t *frames, uint32_t max)
{
	u64 *users;
	int code;

	if (!map || !stack || (!frames && max))
		return -EINVAL;
	users = in_use_count_user(&map->in_use, current_cpu());
	code = table_find_stack_by_id(__atomic_load_n(&map->table, __ATOMIC_SEQ_CST),
				      &map->geometry, id, stack, frames, max);
	in_use_uncount_user(users);
	return code;
}

static void read_statistics(void *table, const struct table_geometry *geometry,
			    struct stackmap_map_stat *out)
{
	struct table_stat stat;

	stack_table_stat(table, geometry, &stat);
	*out = (struct stackmap_map_stat){
		.generation = stat.generation,
		.entries = stat.entries,
		.max_entries = stat.max_entries,
		.pool_used = 8 * stat.pool_used,
		.pool_max = 8 * stat.pool_words,
		.refs = stat.refs,
		.inserts = stat.inserts,
		.lost_races = stat.lost_races,
	};
	memcpy(out->drops, stat.drops, sizeof(out->drops));
}

int stackmap_map_reset(struct stackmap_map *map, struct stackmap_map_stat *old)
{
	void *emptied, *next;
	u32 phase;

	if (!map)
		return -EINVAL;
	if (__atomic_exchange_n(&map->resetting, 1, __ATOMIC_ACQUIRE))
		return -EBUSY;
	emptied = map->table;
	next = map->tables[emptied == map->tables[0]];
	stack_table_init(next, &map->geometry, ++map->generation, map->seed);
	__atomic_store_n(&map->table, next, __ATOMIC_SEQ_CST);
	/* All users that entered before the change have left when both phases were empty. */
	phase = map->in_use.phase;
	wait_until_phase_has_no_users(&map->in_use, !phase);
	__atomic_store_n(&map->in_use.phase, !phase, __ATOMIC_SEQ_CST);
	wait_until_phase_has_no_users(&map->in_use, phase);
	if (old)
		read_statistics(emptied, &map->geometry, old);
	/* madvise() drops the pages, so that they read as zeroes again. */
	if (madvise(emptied, map->geometry.bytes, MADV_DONTNEED))
		memset(emptied, 0, map->geometry.bytes); /* madvise() refuses locked memory */
	__atomic_store_n(&map->resetting, 0, __ATOMIC_RELEASE);
	return 0;
}

void stackmap_map_stat(struct stackmap_map *map, struct stackmap_map_stat *stat)
{
	u64 *users;

	if (!map || !stat)
		return;
	users = in_use_count_user(&map->in_use, current_cpu());
	read_statistics(__atomic_load_n(&map->table, __ATOMIC_SEQ_CST), &map->geometry, stat);
	in_use_uncount_user(users);
}
