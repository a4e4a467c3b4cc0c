/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind table of a whole file, in the form that the direct walk searches. A row covers the
 * file offsets from its own up to the next row's, and names a rule. The chunks of a table are
 * elements of a hash map and are written once.
 *
 *   chunk 0   the root: file offsets, each the first one of a node
 *   nodes     file offsets, each the first one of a leaf
 *   leaves    rows: distance from the leaf's first offset (16 bits) | rule << 16
 *   rules     four words each, from rule 1 on
 *
 * Rule 0 means: no table covers the code, or the table needs more than a rule can express.
 *
 * Tables come and go while programs read. The kernel reuses the memory of a deleted chunk at once,
 * so what a program has read counts only if the root is unchanged afterwards:
 *
 *   - The root of a table is inserted first and deleted first. Each chunk is inserted once.
 *   - The other chunks have keys that no other table of the file has, from a random number on.
 */
#ifndef STACKMAP_ABI_FILE_TABLE_H
#define STACKMAP_ABI_FILE_TABLE_H

#include "rule.h"
#include "scalar.h"
#include "script.h"

/*
 * Words of a chunk: the chunk and the kernel's header of a hash map element are together just
 * smaller than a page.
 */
#define FILE_TABLE_WORDS 980
#define FILE_TABLE_CHUNKS_MAX 16384 /* most chunks of all tables of the engine: 64 MB */

#define FILE_TABLE_RULE_WORDS (sizeof(struct unwind_rule) / sizeof(u32))
/* most rules that one chunk holds */
#define FILE_TABLE_RULES (FILE_TABLE_WORDS / FILE_TABLE_RULE_WORDS)
#define FILE_TABLE_RULES_MAX 0xffffU

#define FILE_TABLE_DISTANCE_MAX 0xffffU
#define FILE_TABLE_ROW(distance, rule) ((u32)(rule) << 16 | (distance))
#define FILE_TABLE_ROW_RULE(row) ((row) >> 16)

struct file_table_chunk {
	u32 count; /* number of used entries of `word` */
	u32 first; /* chunk that the first entry leads to; in a leaf: chunk of rule 1 */
	/* The next members are used in the root only: */
	/* the other chunks of the table have keys from this number on; never 0 in the map */
	u32 base;
	u32 chunks; /* number of chunks of the table */
	u32 used; /* FILE_TABLE_TIME() of the last search that found a rule; written by programs */
	u32 is_partial; /* 1: code that no table covers is not analysed yet */
	/*
	 * layout of the frames of scripts or of generated code; with runtime SCRIPT_NONE no rule of
	 * the table has CFA_SCRIPT_LOOP
	 */
	struct script_layout script;
	u32 word[FILE_TABLE_WORDS];
};
ABI_SIZE(struct file_table_chunk, 4016);

/* The key of a chunk: the mapping number of the file, and FILE_TABLE_ROOT or base + chunk. */
#define FILE_TABLE_KEY(number, index) ((u64)(number) << 32 | (index))
#define FILE_TABLE_ROOT 0

/* CLOCK_MONOTONIC in units of about a minute, so that a root is rarely written to. */
#define FILE_TABLE_TIME(ns) ((u32)((ns) >> 36))

/* A search for the unwind rule of a file offset (core/unwind/table_search.h). */
struct file_table_search {
	/* Input: */
	u32 number; /* mapping number of the file */
	u32 offset; /* file offset */
	u32 now;    /* current FILE_TABLE_TIME(); 0: the clock was not read yet */

	/* Output: */
	u32 is_partial; /* is_partial of the root */
	u32 from;	/* first file offset that the rule covers */
	/*
	 * the rule covers all offsets below this one: the next row begins here; after the last row
	 * of a leaf: `offset` + 1, since the next leaf was not read
	 */
	u32 to;
	struct unwind_rule rule;

	/* Used by core/unwind/table_search.c only: */
	u32 base; /* `base` of the root, as it was when the search began */
	u32 target;
	u32 at;	   /* index of the entry that was found in the current chunk */
	u32 start; /* file offset at which the entry `at` begins */
};
ABI_SIZE(struct file_table_search, 56);

#endif
