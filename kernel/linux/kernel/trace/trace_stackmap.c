// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ownership of the stack maps of trace instances.
 *
 * An instance has one generation of its map at a time, which is one allocation.
 * Writers find it with preemption disabled, readers take a reference. The hash
 * table inside of it is in stackmap/.
 */
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_internal.h"

/*
 * Stacks are packed in place, but a stack that the map refuses is recorded as
 * it was, so it is copied here first. One for each nesting, shared by all maps.
 */
static struct stackid_stack __percpu *packed;

/* Guards packed and the tr->stackmap pointers; nests in trace_types_lock */
static DEFINE_MUTEX(stackmap_mutex);

static struct trace_stackmap *generation_alloc(u64 generation)
{
	struct stackid_geometry geometry;
	struct trace_stackmap *map;
	int ret;

	ret = stackid_geometry_set(&geometry, STACKID_BITS_DEFAULT, nr_cpu_ids,
				   0);
	if (ret)
		return ERR_PTR(ret);
	map = vzalloc(struct_size(map, table, geometry.bytes));
	if (!map)
		return ERR_PTR(-ENOMEM);
	refcount_set(&map->users, 1);
	map->geometry = geometry;
	map->packed = packed;
	stackid_table_init(map->table, &geometry, generation, get_random_u64());
	return map;
}

/* May sleep */
void trace_stackmap_put(struct trace_stackmap *map)
{
	if (!map || !refcount_dec_and_test(&map->users))
		return;
	vfree(map);
}

/**
 * trace_stackmap_get - Take a reference to the current generation of a map
 * @tr: the instance
 *
 * Return: the generation, or NULL if the instance has no map
 */
struct trace_stackmap *trace_stackmap_get(struct trace_array *tr)
{
	struct trace_stackmap *map;

	guard(rcu)();
	map = rcu_dereference(tr->stackmap);
	/* The instance drops its reference a grace period after the pointer */
	if (map)
		refcount_inc(&map->users);
	return map;
}

static int packed_alloc(void)
{
	if (!packed)
		packed = __alloc_percpu(TRACE_STACKMAP_NESTING * sizeof(*packed),
					__alignof__(*packed));
	return packed ? 0 : -ENOMEM;
}

static void map_replace(struct trace_array *tr, struct trace_stackmap *map)
{
	struct trace_stackmap *old;

	old = rcu_replace_pointer(tr->stackmap, map,
				  lockdep_is_held(&stackmap_mutex));
	if (!old)
		return;
	synchronize_rcu();
	trace_stackmap_put(old);
}

static int map_renew(struct trace_array *tr)
{
	struct trace_stackmap *map;

	map = generation_alloc(tr->stackmap_generation + 1);
	if (IS_ERR(map))
		return PTR_ERR(map);
	tr->stackmap_generation++;
	map_replace(tr, map);
	return 0;
}

/**
 * trace_stackmap_enable - Give an instance a map, if it has none
 * @tr: the instance
 *
 * Sleeps; the caller holds trace_types_lock.
 *
 * Return: 0, -ENOMEM, or -EOPNOTSUPP if the ring buffer of the instance
 * survives a reboot, which the map does not
 */
int trace_stackmap_enable(struct trace_array *tr)
{
	int ret;

	if (tr->range_addr_start)
		return -EOPNOTSUPP;
	guard(mutex)(&stackmap_mutex);
	if (rcu_access_pointer(tr->stackmap))
		return 0;
	ret = packed_alloc();
	return ret ? ret : map_renew(tr);
}

/**
 * trace_stackmap_disable - Take the map of an instance away
 * @tr: the instance
 *
 * Open files keep the generation that they show. Sleeps; the caller holds
 * trace_types_lock.
 */
void trace_stackmap_disable(struct trace_array *tr)
{
	guard(mutex)(&stackmap_mutex);
	map_replace(tr, NULL);
}

/**
 * trace_stackmap_get_id - Find or make the id of a kernel stack
 * @tr: the instance
 * @nesting: below TRACE_STACKMAP_NESTING, and used by the caller alone on this
 *	CPU
 * @frames: return addresses, innermost first
 * @count: number of frames
 *
 * Any context, NMI included, with preemption disabled.
 *
 * Return: the id, -ENOENT without a map, -E2BIG for more frames than a map
 * takes, -ENOSPC if the map has no room, -EINVAL without frames
 */
s64 trace_stackmap_get_id(struct trace_array *tr, int nesting,
			  const unsigned long *frames, unsigned int count)
{
	struct trace_stackmap *map = rcu_dereference_sched(tr->stackmap);
	struct stackid_stack *stack;

	if (!map)
		return -ENOENT;
	if (count > STACKID_DEPTH_MAX) {
		atomic_long_inc(&map->deep);
		return -E2BIG;
	}
	stack = this_cpu_ptr(map->packed) + nesting;
	stack->depth = count;
	stack->flags = 0;
	memcpy(stack->word, frames, count * sizeof(*frames));
	stackid_pack(stack);
	return stackid_map_get_id(map->table, &map->geometry,
				  raw_smp_processor_id(), stack);
}
