/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a stack map's generation: layout, initialisation and statistics. */
#ifndef CORE_STACK_TABLE_H
#define CORE_STACK_TABLE_H

#include "env.h"
#include "stack.h"
#include "table.h"

/*
 * The offsets of the parts of a table: one struct per map, the same for all its generations. BPF
 * programs have it as constants in .rodata, so that the verifier sees that every access stays
 * inside the value.
 */
struct table_geometry {
	u32 bits;
	u32 cpus;
	u32 pool_words;
	u32 slot_mask; /* slots - 1 */
	u64 slots_offset;
	u64 pool_offset;
	u64 bytes; /* bytes of the whole table */
};

#ifndef __bpf__

struct table_stat {
	u64 generation;
	u64 entries; /* unique stacks stored; at most max_entries */
	u64 max_entries;
	u64 pool_used; /* pool words that were handed out */
	u64 pool_words;
	u64 refs; /* sum of the reference counts: hits + inserts */
	u64 inserts;
	u64 drops[TABLE_DROP_COUNT];
	u64 lost_races;
	u64 wasted; /* pool words without a stack: pool_used = wasted + words of elements */
};

/* The number of calls that the table refused. */
u64 table_stat_refused(const struct table_stat *stat);

/* Fill level in percent: of the entries or of the pool, whichever is higher. */
u32 table_stat_fill_percent(const struct table_stat *stat);

/*
 * Computes the geometry. -ERANGE: bits is not in [TABLE_BITS_MIN, TABLE_BITS_MAX], pool_words is
 * not in [TABLE_POOL_WORDS_MIN, TABLE_POOL_WORDS_MAX] or 0 (the default for `bits`), or cpus is 0.
 */
int table_geometry_set(struct table_geometry *geometry, u32 bits, u32 cpus, u32 pool_words);

/*
 * Fill level of a table in percent (of its entries or of its pool, whichever is higher), computed
 * from what the table has handed out, without a walk over the table.
 */
u32 stack_table_fill_percent(const void *table, const struct table_geometry *geometry);

/* Initialises an empty table in geometry->bytes of zeroes. */
void stack_table_init(void *table, const struct table_geometry *geometry, u64 generation, u64 seed);

/* Reads all counters; walks the whole table for the reference counts. */
void stack_table_stat(void *table, const struct table_geometry *geometry, struct table_stat *stat);

#endif
#endif
