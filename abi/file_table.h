/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind table of a whole file, as the direct walk searches it: rows, each of which holds from
 * its file offset to that of the next one, and names the rule there. It is written once, chunk by
 * chunk, the root last, and never changes: who finds the root finds all of it.
 *
 *   chunk 0   the root: file offsets, each the first one of a node
 *   nodes     file offsets, each the first one of a leaf
 *   leaves    rows: distance from the leaf's first offset (16 bits) | rule << 16
 *   rules     four words each, from rule 1 on
 *
 * Rule 0 is none: no table covers the code, or the table asks for more than a rule can say.
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
	u32 reserved[2];
	u32 word[FILE_TABLE_WORDS];
};
ABI_SIZE(struct file_table_chunk, 4000);

/* Of a chunk, by the mapping number of its file. */
#define FILE_TABLE_KEY(number, chunk) ((u64)(number) << 32 | (chunk))
#define FILE_TABLE_ROOT 0

/* A search (core/unwind/table_search.h). */
struct file_table_search {
	/* In: */
	u32 number; /* of the file's mapping */
	u32 offset; /* in the file */

	/* Out: */
	u32 is_row_start; /* the row begins at the offset */
	struct unwind_rule rule;

	/* The search: */
	u32 target;
	u32 at;	   /* index of the entry */
	u32 start; /* what it says */
};
ABI_SIZE(struct file_table_search, 40);

#endif
