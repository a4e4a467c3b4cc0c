/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a stack map's generation: its layout, how it begins, and what its counters say. */
#ifndef CORE_STACK_TABLE_H
#define CORE_STACK_TABLE_H

#include "env.h"
#include "stack.h"
#include "table.h"

/*
 * Where the parts of a table are. One per map, the same for all its generations; BPF programs have
 * it as constants in .rodata, so that the verifier can see that every access stays inside of the
 * value.
 */
struct table_geometry {
	u32 bits;
	u32 cpus;
	u32 pool_words;
	u32 slot_mask; /* slots - 1 */
	u64 slots_offset;
	u64 pool_offset;
	u64 bytes; /* of the whole table */
};

#ifndef __bpf__

struct table_stat {
	u64 generation;
	u64 entries; /* unique stacks stored; at most max_entries */
	u64 max_entries;
	u64 pool_used; /* words */
	u64 pool_words;
	u64 refs; /* sum of ref counts: hits + inserts */
	u64 inserts;
	u64 drops[TABLE_DROP_COUNT];
	u64 lost_races;
	u64 wasted; /* pool words handed out that no stack uses: pool_used = wasted + what elements
		       take */
};

/* Calls that the table refused. */
u64 table_stat_refused(const struct table_stat *stat);

/* In percent: of its entries or of its pool, whichever is nearer to its end. */
u32 table_stat_fill(const struct table_stat *stat);

/* 0 or -ERANGE: bits in [TABLE_BITS_MIN, TABLE_BITS_MAX], pool_words in [TABLE_POOL_WORDS_MIN,
 * TABLE_POOL_WORDS_MAX] (0: the default for `bits`), cpus > 0. */
int table_geometry_set(struct table_geometry *geometry, u32 bits, u32 cpus, u32 pool_words);

/* Makes geometry->bytes of zeroes an empty table. */
void stack_table_init(void *table, const struct table_geometry *geometry, u64 generation, u64 seed);

/* Reads all counters; walks the whole table for the reference counts. */
void stack_table_stat(void *table, const struct table_geometry *geometry, struct table_stat *stat);

#endif
#endif
