/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind table of a whole file, as the direct walk searches it: rows, each of which holds from
 * its file offset to that of the next one, and names the rule there. Its chunks are elements of a
 * hash map, written once.
 *
 *   chunk 0   the root: file offsets, each the first one of a node
 *   nodes     file offsets, each the first one of a leaf
 *   leaves    rows: distance from the leaf's first offset (16 bits) | rule << 16
 *   rules     four words each, from rule 1 on
 *
 * Rule 0 is none: no table covers the code, or the table asks for more than a rule can say.
 *
 * Tables come and go while programs read. The kernel gives the memory of a deleted chunk to another
 * one at once, so what a program has read counts only if the root is the same afterwards:
 *
 *   - Of all chunks of a table the root comes first and goes first, each of them once.
 *   - The other chunks have keys that no other table of the file has: from a random one on.
 */
#ifndef STACKMAP_ABI_FILE_TABLE_H
#define STACKMAP_ABI_FILE_TABLE_H

#include "rule.h"
#include "scalar.h"

/* With what the kernel puts before an element of a hash map, a chunk is just below a page. */
#define FILE_TABLE_WORDS 996
#define FILE_TABLE_CHUNKS_MAX 16384 /* of the engine: 64 MB */

#define FILE_TABLE_RULE_WORDS (sizeof(struct unwind_rule) / sizeof(u32))
#define FILE_TABLE_RULES (FILE_TABLE_WORDS / FILE_TABLE_RULE_WORDS) /* in a chunk */
#define FILE_TABLE_RULES_MAX 0xffffU

#define FILE_TABLE_DISTANCE_MAX 0xffffU
#define FILE_TABLE_ROW(distance, rule) ((u32)(rule) << 16 | (distance))
#define FILE_TABLE_ROW_RULE(row) ((row) >> 16)

struct file_table_chunk {
	u32 count; /* entries */
	u32 first; /* the chunk that its first entry leads to; of a leaf, that of rule 1 */
	/* Of the root: */
	u32 base;	/* the others have keys from here on; never 0 in the map */
	u32 chunks;	/* of the table */
	u32 used;	/* when a search has found a rule: FILE_TABLE_TIME(); programs write it */
	u32 is_partial; /* code that no table covers is not analysed yet */
	u32 word[FILE_TABLE_WORDS];
};
ABI_SIZE(struct file_table_chunk, 4008);

/* Of a chunk, by the mapping number of its file: the root, or base + chunk. */
#define FILE_TABLE_KEY(number, index) ((u64)(number) << 32 | (index))
#define FILE_TABLE_ROOT 0

/* Of CLOCK_MONOTONIC: a number for each minute or so, so that a root is rarely written to. */
#define FILE_TABLE_TIME(ns) ((u32)((ns) >> 36))

/* A search (core/unwind/table_search.h). */
struct file_table_search {
	/* In: */
	u32 number; /* of the file's mapping */
	u32 offset; /* in the file */
	u32 now;    /* 0: not known yet */

	/* Out: */
	u32 is_partial; /* as in the root */
	u32 from;	/* the rule holds from this offset on */
	u32 to;		/* up to this one; the search knows no more of it where a leaf ends */
	struct unwind_rule rule;

	/* The search: */
	u32 base; /* of the root that it began with */
	u32 target;
	u32 at;	   /* index of the entry */
	u32 start; /* what it says */
};
ABI_SIZE(struct file_table_search, 56);

#endif
