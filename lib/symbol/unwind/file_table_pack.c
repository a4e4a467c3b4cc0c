/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chunks are stored level by level, so a parent names only its first child. A leaf ends when it is
 * full, or when the next offset is too far from its first one. */
#include "file_table_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static struct file_table_chunk *add_chunk(struct file_table *table)
{
	struct file_table_chunk *chunk;

	if (array_make_room(table->chunks, table->count, table->room))
		return NULL;
	chunk = &table->chunks[table->count++];
	memset(chunk, 0, sizeof(*chunk));
	return chunk;
}

/* The number of rows in the leaf that begins with row `first`. */
static u32 count_leaf_rows(const struct code_rows *rows, u32 first)
{
	u32 count = 0;

	while (first + count < rows->count && count < FILE_TABLE_WORDS &&
	       rows->rows[first + count].offset - rows->rows[first].offset <=
		       FILE_TABLE_DISTANCE_MAX)
		count++;
	return count;
}

/* Adds the chunks of the root and of the nodes. Their offsets are filled in later. */
static int add_root_and_node_chunks(struct file_table *table, u32 leaves)
{
	u32 nodes = (leaves + FILE_TABLE_WORDS - 1) / FILE_TABLE_WORDS;

	if (nodes > FILE_TABLE_WORDS)
		return -E2BIG;
	for (u32 i = 0; i <= nodes; i++) {
		struct file_table_chunk *chunk = add_chunk(table);
		u32 left = leaves - (i ? (i - 1) * FILE_TABLE_WORDS : 0);

		if (!chunk)
			return -ENOMEM;
		chunk->first = i ? 1 + nodes + (i - 1) * FILE_TABLE_WORDS : 1;
		chunk->count = i == 0 ? nodes : left < FILE_TABLE_WORDS ? left : FILE_TABLE_WORDS;
	}
	return 0;
}

/* Adds the chunks of the leaves, and writes the file offset of each leaf's first row into its node,
 * and that of each node's first row into the root. */
static int add_leaf_chunks_of_rows(struct file_table *table, const struct code_rows *rows,
				   u32 leaves)
{
	u32 rules = table->count + leaves, row = 0;

	for (u32 leaf = 0; leaf < leaves; leaf++) {
		u32 node = leaf / FILE_TABLE_WORDS, at = leaf % FILE_TABLE_WORDS;
		struct file_table_chunk *chunk = add_chunk(table);
		u32 start = rows->rows[row].offset;

		if (!chunk)
			return -ENOMEM;
		chunk->first = rules;
		chunk->count = count_leaf_rows(rows, row);
		for (u32 i = 0; i < chunk->count; i++, row++)
			chunk->word[i] = FILE_TABLE_ROW(rows->rows[row].offset - start,
							rows->rows[row].rule);
		table->chunks[1 + node].word[at] = start;
		if (!at)
			table->chunks[FILE_TABLE_ROOT].word[node] = start;
	}
	return 0;
}

static int add_rule_chunks(struct file_table *table, const struct code_rows *rows)
{
	for (u32 i = 0; i < rows->rule_count; i += FILE_TABLE_RULES) {
		u32 left = rows->rule_count - i;
		struct file_table_chunk *chunk = add_chunk(table);

		if (!chunk)
			return -ENOMEM;
		chunk->count = left < FILE_TABLE_RULES ? left : FILE_TABLE_RULES;
		memcpy(chunk->word, &rows->rules[i], chunk->count * sizeof(*rows->rules));
	}
	return 0;
}

int file_table_pack(const struct code_rows *rows, struct file_table *table)
{
	u32 leaves = 0;
	int result;

	for (u32 row = 0; row < rows->count; row += count_leaf_rows(rows, row))
		leaves++;
	result = add_root_and_node_chunks(table, leaves)
			 ?: add_leaf_chunks_of_rows(table, rows, leaves) ?: add_rule_chunks(table, rows);

	if (!result) {
		table->chunks[FILE_TABLE_ROOT].is_partial = rows->is_partial;
		table->chunks[FILE_TABLE_ROOT].script = rows->script;
	}
	return result;
}

void file_table_clear(struct file_table *table)
{
	free(table->chunks);
	*table = (struct file_table){};
}
