// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The stack maps of trace instances.
 *
 * The algorithm is in stackmap/: a hash table that is only added to, lock-free, for any
 * context. Here is who owns its memory. An instance has one generation of its map at a time.
 * Writers find it under RCU-sched, files by a reference; a reset publishes an empty generation
 * and lets go of the old one, while tracing goes on. An id tells its generation, so one of an
 * old generation is not taken for one of another stack: tags come again after 2^(31 - bits) - 1
 * resets.
 */
#define pr_fmt(fmt) "stackmap: " fmt

#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_internal.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "stackmap."

/* Maps of 2^bits stacks. Those that are there keep their size until the next reset. */
static unsigned int bits = TABLE_BITS_DEFAULT;
module_param(bits, uint, 0644);

/* Made for the first map, and of all. */
static struct stack __percpu *packed;

/* Guards `packed`, and who has a map. Taken inside of trace_types_lock. */
static DEFINE_MUTEX(stackmap_mutex);

static struct trace_stackmap *generation_make(u64 generation)
{
	struct table_geometry geometry;
	struct trace_stackmap *map;
	int error = table_geometry_set(&geometry, bits, nr_cpu_ids, 0);

	if (error)
		return ERR_PTR(error);
	map = vzalloc(struct_size(map, table, geometry.bytes));
	if (!map)
		return ERR_PTR(-ENOMEM);
	refcount_set(&map->users, 1);
	trace_mappings_init(&map->mappings);
	map->geometry = geometry;
	map->packed = packed;
	stack_table_init(map->table, &geometry, generation, get_random_u64());
	return map;
}

void trace_stackmap_put(struct trace_stackmap *map)
{
	if (!map || !refcount_dec_and_test(&map->users))
		return;
	trace_mappings_free(&map->mappings);
	vfree(map);
}

struct trace_stackmap *trace_stackmap_get(struct trace_array *tr)
{
	struct trace_stackmap *map;

	guard(rcu)();
	map = rcu_dereference(tr->stackmap);
	if (map)
		refcount_inc(&map->users);
	return map;
}

/* Never given back: the next instance needs it again. */
static int packed_alloc(void)
{
	if (!packed)
		packed = __alloc_percpu(TRACE_STACKMAP_NESTING * sizeof(*packed), 8);
	return packed ? 0 : -ENOMEM;
}

/*
 * Gives an instance another generation, or none. Nobody can find the one before any more when its
 * reference is let go: who has its last one frees it at once, however often it is renewed.
 */
static void map_replace(struct trace_array *tr, struct trace_stackmap *map)
{
	struct trace_stackmap *old = rcu_replace_pointer(tr->stackmap, map, true);

	if (!old)
		return;
	synchronize_rcu();
	trace_stackmap_put(old);
}

/* Gives an instance an empty generation, in place of the one that it may have. */
static int map_renew(struct trace_array *tr)
{
	struct trace_stackmap *map = generation_make(tr->stackmap_generation + 1);

	if (IS_ERR(map))
		return PTR_ERR(map);
	tr->stackmap_generation++;
	map_replace(tr, map);
	return 0;
}

/* A ring that outlives the boot would have ids of a map that does not. */
int trace_stackmap_enable(struct trace_array *tr)
{
	if (tr->range_addr_start)
		return -EOPNOTSUPP;
	guard(mutex)(&stackmap_mutex);
	if (rcu_access_pointer(tr->stackmap))
		return 0;
	return packed_alloc() ?: map_renew(tr);
}

void trace_stackmap_disable(struct trace_array *tr)
{
	guard(mutex)(&stackmap_mutex);
	map_replace(tr, NULL);
}

int trace_stackmap_reset(struct trace_array *tr)
{
	guard(mutex)(&stackmap_mutex);
	return rcu_access_pointer(tr->stackmap) ? map_renew(tr) : -ENODEV;
}

s64 trace_stackmap_get_id(struct trace_array *tr, int nesting, const unsigned long *frames,
			  unsigned int count)
{
	struct trace_stackmap *map = rcu_dereference_sched(tr->stackmap);
	struct stack *stack;

	if (!map)
		return -ENOENT;
	if (count > STACK_USER_DEPTH_MAX) {
		atomic_long_inc(&map->deep);
		return -E2BIG;
	}
	stack = this_cpu_ptr(map->packed) + nesting;
	stack->depth = count;
	stack->flags = 0;
	memcpy(stack->word, frames, count * sizeof(*frames));
	stack_pack(stack);
	return stack_map_get_id(map->table, &map->geometry, raw_smp_processor_id(), stack);
}

void trace_stackmap_lost(struct trace_array *tr)
{
	struct trace_stackmap *map = rcu_dereference_sched(tr->stackmap);

	if (map)
		atomic_long_inc(&map->lost);
}
