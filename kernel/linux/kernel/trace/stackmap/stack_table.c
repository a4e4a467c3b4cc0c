// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of a stack map: its geometry, its initialisation and its statistics. */

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "stack_map.h"
#include "stack_table.h"

int stackid_geometry_set(struct stackid_geometry *geometry, u32 bits, u32 cpus,
			 u32 pool_words)
{
	if (bits < STACKID_BITS_MIN || bits > STACKID_BITS_MAX || cpus == 0)
		return -ERANGE;
	if (pool_words == 0)
		pool_words = STACKID_WORDS_PER_STACK << bits;
	if (pool_words < STACKID_POOL_WORDS_MIN ||
	    pool_words > STACKID_POOL_WORDS_MAX)
		return -ERANGE;
	*geometry = (struct stackid_geometry){
		.bits = bits,
		.cpus = cpus,
		.pool_words = pool_words,
		.slot_mask = STACKID_SLOTS(bits) - 1,
		.slots_offset = STACKID_SLOTS_OFFSET(cpus),
		.pool_offset = STACKID_POOL_OFFSET(bits, cpus),
		.bytes = STACKID_BYTES(bits, cpus, pool_words),
	};
	return 0;
}

void stackid_table_init(void *table, const struct stackid_geometry *geometry,
			u64 generation, u64 seed)
{
	struct stackid_header *header = table;

	header->generation = generation;
	header->seed = seed;
	header->id_tag = stackid_id_tag(generation, geometry->bits);
}

static void add_cpu_counters(void *table,
			     const struct stackid_geometry *geometry,
			     struct stackid_stat *stat)
{
	struct stackid_cpu *line =
		(struct stackid_cpu *)((struct stackid_header *)table + 1);

	for (u32 cpu = 0; cpu < geometry->cpus; cpu++, line++) {
		stat->inserts += atomic64_read(&line->inserts);
		for (u32 cause = 0; cause < STACKID_DROP_COUNT; cause++)
			stat->drops[cause] +=
				atomic64_read(&line->drops[cause]);
		stat->lost_races += atomic64_read(&line->lost_races);
		stat->wasted += atomic64_read(&line->wasted);
		stat->wasted += READ_ONCE(line->spare) >> 32;
	}
}

static void add_reference_counts(void *table,
				 const struct stackid_geometry *geometry,
				 struct stackid_stat *stat)
{
	for (u32 index = 0; index <= geometry->slot_mask; index++) {
		struct stackid_element *element =
			stackid_map_at(table, geometry, index);

		cond_resched();
		if (!element)
			continue;
		stat->entries++;
		stat->refs += atomic64_read(&element->ref_count);
	}
}

void stackid_table_stat(void *table, const struct stackid_geometry *geometry,
			struct stackid_stat *stat)
{
	struct stackid_header *header = table;
	u64 allocated = atomic64_read(&header->allocated);

	*stat = (struct stackid_stat){
		.generation = header->generation,
		.max_entries = 1ULL << geometry->bits,
		.pool_used = min_t(u64, (u32)allocated, geometry->pool_words),
		.pool_words = geometry->pool_words,
	};
	add_cpu_counters(table, geometry, stat);
	add_reference_counts(table, geometry, stat);
}

u64 stackid_stat_refused(const struct stackid_stat *stat)
{
	u64 refused = 0;

	for (u32 cause = 0; cause < STACKID_DROP_COUNT; cause++)
		refused += stat->drops[cause];
	return refused;
}

u32 stackid_table_fill_percent(const void *table,
			       const struct stackid_geometry *geometry)
{
	const struct stackid_header *header = table;
	u64 allocated = atomic64_read(&header->allocated);
	u64 entries = (allocated >> 32) * 100 >> geometry->bits;
	u64 pool = (u64)(u32)allocated * 100 / geometry->pool_words;
	u64 most = entries > pool ? entries : pool;

	return most < 100 ? most : 100;
}
