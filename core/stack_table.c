/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* This file is only compiled natively: programs get initialised tables. */
#include "stack_table.h"

#include "stack_map.h"

int table_geometry_set(struct table_geometry *geometry, u32 bits, u32 cpus, u32 pool_words)
{
	if (bits < TABLE_BITS_MIN || bits > TABLE_BITS_MAX || cpus == 0)
		return -ERANGE;
	if (pool_words == 0)
		pool_words = TABLE_WORDS_PER_STACK << bits;
	if (pool_words < TABLE_POOL_WORDS_MIN || pool_words > TABLE_POOL_WORDS_MAX)
		return -ERANGE;
	*geometry = (struct table_geometry){
		.bits = bits,
		.cpus = cpus,
		.pool_words = pool_words,
		.slot_mask = TABLE_SLOTS(bits) - 1,
		.slots_offset = TABLE_SLOTS_OFFSET(cpus),
		.pool_offset = TABLE_POOL_OFFSET(bits, cpus),
		.bytes = TABLE_BYTES(bits, cpus, pool_words),
	};
	return 0;
}

void stack_table_init(void *table, const struct table_geometry *geometry, u64 generation, u64 seed)
{
	struct table_header *header = table;

	header->generation = generation;
	header->seed = seed;
	header->bits = geometry->bits;
	header->cpus = geometry->cpus;
	header->pool_words = geometry->pool_words;
	header->id_tag = STACK_ID_TAG(generation, geometry->bits);
}

static void add_cpu_counters(void *table, const struct table_geometry *geometry,
			     struct table_stat *stat)
{
	struct table_cpu *line = (struct table_cpu *)((struct table_header *)table + 1);

	for (u32 cpu = 0; cpu < geometry->cpus; cpu++, line++) {
		stat->inserts += atomic_load_relaxed(&line->inserts);
		for (u32 cause = 0; cause < TABLE_DROP_COUNT; cause++)
			stat->drops[cause] += atomic_load_relaxed(&line->drops[cause]);
		stat->lost_races += atomic_load_relaxed(&line->lost_races);
		stat->wasted += atomic_load_relaxed(&line->wasted);
		stat->wasted += atomic_load_relaxed(&line->spare) >> 32;
	}
}

static void add_reference_counts(void *table, const struct table_geometry *geometry,
				 struct table_stat *stat)
{
	for (u32 index = 0; index <= geometry->slot_mask; index++) {
		struct table_view *element = stack_map_at(table, geometry, index);

		if (!element)
			continue;
		stat->entries++;
		stat->refs += atomic_load_relaxed(&element->ref_count);
	}
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

void stack_table_stat(void *table, const struct table_geometry *geometry, struct table_stat *stat)
{
	struct table_header *header = table;
	u64 allocated = atomic_load_relaxed(&header->allocated);

	*stat = (struct table_stat){
		.generation = header->generation,
		.max_entries = 1ULL << geometry->bits,
		.pool_used = least((u32)allocated, geometry->pool_words),
		.pool_words = geometry->pool_words,
	};
	add_cpu_counters(table, geometry, stat);
	add_reference_counts(table, geometry, stat);
}

u64 table_stat_refused(const struct table_stat *stat)
{
	u64 refused = 0;

	for (u32 cause = 0; cause < TABLE_DROP_COUNT; cause++)
		refused += stat->drops[cause];
	return refused;
}

u32 table_stat_fill_percent(const struct table_stat *stat)
{
	u64 entries = stat->entries * 100 / stat->max_entries;
	u64 pool = stat->pool_used * 100 / stat->pool_words;

	return entries > pool ? entries : pool;
}

u32 stack_table_fill_percent(const void *table, const struct table_geometry *geometry)
{
	const struct table_header *header = table;
	u64 allocated = atomic_load_relaxed(&header->allocated);
	u64 entries = (allocated >> 32) * 100 >> geometry->bits;
	u64 pool = (u64)(u32)allocated * 100 / geometry->pool_words;
	u64 most = entries > pool ? entries : pool;

	return most < 100 ? most : 100;
}
