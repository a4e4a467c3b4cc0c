/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The root goes first. So every chunk has had a root before it, and a chunk without one never gets
 * one: anybody may delete it. A table whose chunks are not all there has no rule for some code.
 *
 * Who was stopped for long may find that its table has gone meanwhile: the root is looked up in the
 * end.
 */
#include "table_publish.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "table_evict.h"
#include "table_map.h"

#define ROOT_KEY(number) FILE_TABLE_KEY(number, FILE_TABLE_ROOT)

/* Whether the table of this root has its last chunk. */
static bool is_complete(int map, u32 number, const struct file_table_chunk *root)
{
	struct file_table_chunk chunk;
	u32 last = root->base + root->chunks - 1;

	return root->chunks == 1 || !table_map_get(map, FILE_TABLE_KEY(number, last), &chunk);
}

bool table_is_published(int map, u32 number)
{
	struct file_table_chunk root;

	return !table_map_get(map, ROOT_KEY(number), &root) && is_complete(map, number, &root);
}

bool table_is_whole(int map, u32 number)
{
	struct file_table_chunk root;

	return !table_map_get(map, ROOT_KEY(number), &root) && !root.is_partial &&
	       is_complete(map, number, &root);
}

/* `left`: chunks that are to come, this one too. */
static int put(int map, u64 key, const struct file_table_chunk *chunk, u32 left)
{
	int result = table_map_add(map, key, chunk);

	while (result == -E2BIG && tables_evict(map, left))
		result = table_map_add(map, key, chunk);
	return result;
}

/* Far below 2^32 with all chunks behind it. */
static int draw_base(u32 *base)
{
	u32 any;

	if (getrandom(&any, sizeof(any), 0) != sizeof(any))
		return -errno;
	*base = 1 + any / 2;
	return 0;
}

/* *base: where the other chunks go. */
static int put_root(int map, u32 number, const struct file_table *table, u32 *base)
{
	bool is_partial = table->chunks[FILE_TABLE_ROOT].is_partial;
	struct file_table_chunk root = table->chunks[FILE_TABLE_ROOT];
	int result = draw_base(&root.base);

	root.chunks = table->count;
	root.used = table_now();
	result = result ?: put(map, ROOT_KEY(number), &root, table->count);
	if (result == -EEXIST)
		result = table_map_get(map, ROOT_KEY(number), &root);
	if (result)
		return result;
	*base = root.base;
	return root.chunks == table->count && root.is_partial == is_partial ? 0 : -ESTALE;
}

static bool has_root(int map, u32 number, u32 base)
{
	struct file_table_chunk root;

	return !table_map_get(map, ROOT_KEY(number), &root) && root.base == base;
}

/* Whether others have put the same there. A program that is late may have noted a use in it. */
static bool is_there(int map, u64 key, const struct file_table_chunk *chunk)
{
	struct file_table_chunk other;

	if (table_map_get(map, key, &other))
		return false;
	other.used = chunk->used;
	return !memcmp(&other, chunk, sizeof(other));
}

static int put_chunks(int map, u32 number, const struct file_table *table, u32 base)
{
	int result = 0;

	for (u32 i = 1; i < table->count && !result; i++) {
		u64 key = FILE_TABLE_KEY(number, base + i);

		result = put(map, key, &table->chunks[i], table->count - i);
		if (result == -EEXIST)
			result = is_there(map, key, &table->chunks[i]) ? 0 : -ESTALE;
	}
	return result;
}

/* A table without the rows of analysed code goes for one that has them. */
static void remove_partial(int map, u32 number, const struct file_table *table)
{
	struct file_table_chunk root;

	if (!table->chunks[FILE_TABLE_ROOT].is_partial &&
	    !table_map_get(map, ROOT_KEY(number), &root) && root.is_partial)
		table_remove(map, number);
}

int table_publish(int map, u32 number, const struct file_table *table)
{
	u32 base;
	int result;

	remove_partial(map, number, table);
	result = put_root(map, number, table, &base);
	if (result)
		return result;
	result = put_chunks(map, number, table, base);
	if (!result && has_root(map, number, base))
		return 0;
	if (result)
		table_remove(map, number);
	table_chunks_delete(map, number, base, table->count);
	return result ?: -ESTALE;
}
