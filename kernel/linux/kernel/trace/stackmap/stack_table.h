/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a stack map's generation: layout, initialisation and
 * statistics.
 */
#ifndef _TRACE_STACKMAP_STACK_TABLE_H
#define _TRACE_STACKMAP_STACK_TABLE_H

#include <linux/types.h>

#include "stack.h"
#include "table.h"

/*
 * The offsets of the parts of a table: one struct per map, the same for all its
 * generations.
 */
struct stackid_geometry {
	u32 bits;
	u32 cpus;
	u32 pool_words;
	u32 slot_mask; /* slots - 1 */
	u64 slots_offset;
	u64 pool_offset;
	u64 bytes; /* bytes of the whole table */
};

struct stackid_stat {
	u64 generation;
	u64 entries; /* unique stacks stored; at most max_entries */
	u64 max_entries;
	u64 pool_used; /* pool words that were handed out */
	u64 pool_words;
	u64 refs; /* sum of the reference counts: hits + inserts */
	u64 inserts;
	u64 drops[STACKID_DROP_COUNT];
	u64 lost_races;
	u64 wasted; /* pool words without a stack: pool_used = wasted + words of elements */
};

/* The number of calls that the table refused. */
u64 stackid_stat_refused(const struct stackid_stat *stat);

/*
 * Computes the geometry. -ERANGE: bits is not in [STACKID_BITS_MIN,
 * STACKID_BITS_MAX], pool_words is not in [STACKID_POOL_WORDS_MIN,
 * STACKID_POOL_WORDS_MAX] or 0 (the default for `bits`), or cpus is 0.
 */
int stackid_geometry_set(struct stackid_geometry *geometry, u32 bits, u32 cpus,
			 u32 pool_words);

/*
 * Fill level of a table in percent (of its entries or of its pool, whichever is
 * higher), computed from what the table has handed out, without a walk over the
 * table.
 */
u32 stackid_table_fill_percent(const void *table,
			       const struct stackid_geometry *geometry);

/* Initialises an empty table in geometry->bytes of zeroes. */
void stackid_table_init(void *table, const struct stackid_geometry *geometry,
			u64 generation, u64 seed);

/* Reads all counters; walks the whole table for the reference counts. */
void stackid_table_stat(void *table, const struct stackid_geometry *geometry,
			struct stackid_stat *stat);

#endif
