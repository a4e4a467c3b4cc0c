/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The root of a table is added first. Each chunk therefore had a root when it was added, a chunk
 * without a root never gets one, and any process may delete such a chunk. Until all chunks of a
 * table are added, some code has no rule.
 *
 * A process that was stopped for long may find that its table has been evicted meanwhile, so the
 * root is looked up at the end.
 */
#include "table_publish.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "file_table.h"

/* The kernel takes memory for elements from a small store, which an interrupt refills. An insert
 * that fails without memory is therefore tried again. */

#define TRIES 1000

/* The system call bpf(2) with a map. For BPF_MAP_GET_NEXT_KEY `value` is the next key. */
static int bpf_map_system_call(int command, int map, const u64 *key, const void *value, u64 flags)
{
	union bpf_attr attr = {.map_fd = map, .key = (u64)key, .value = (u64)value, .flags = flags};

	return syscall(SYS_bpf, command, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int table_map_get(int map, u64 key, struct file_table_chunk *chunk)
{
	return bpf_map_system_call(BPF_MAP_LOOKUP_ELEM, map, &key, chunk, 0);
}

int table_map_delete(int map, u64 key)
{
	return bpf_map_system_call(BPF_MAP_DELETE_ELEM, map, &key, NULL, 0);
}

int table_map_get_and_delete(int map, u64 key, struct file_table_chunk *chunk)
{
	return bpf_map_system_call(BPF_MAP_LOOKUP_AND_DELETE_ELEM, map, &key, chunk, 0);
}

int table_map_add(int map, u64 key, const struct file_table_chunk *chunk)
{
	int result = -ENOMEM;

	for (u32 i = 0; i < TRIES && result == -ENOMEM; i++)
		result = bpf_map_system_call(BPF_MAP_UPDATE_ELEM, map, &key, chunk, BPF_NOEXIST);
	return result;
}

int table_map_next(int map, const u64 *key, u64 *next)
{
	return bpf_map_system_call(BPF_MAP_GET_NEXT_KEY, map, key, next, 0);
}

/*
 * Eviction makes room for new tables. All keys are read, and the root of each file. A chunk that no
 * root refers to was left by a process that was killed, and is deleted. Then tables that were not
 * used for long are removed.
 *
 * Several processes may evict at once: the process that takes the root of a table removes the
 * table, and a process that finds no root goes on to the next table.
 */

#define KEY_NUMBER(key) ((u32)((key) >> 32))
#define KEYS_MAX                                                                                   \
	(2 * FILE_TABLE_CHUNKS_MAX) /* keys repeat if the last one is deleted meanwhile            \
				     */

struct idle_table {
	u32 number;
	u32 unused_for;
};

struct eviction {
	int map;
	u64 *keys;
	u32 count, room;
	struct idle_table *idle;
	u32 idle_count, idle_room;
	u32 freed;
};

u32 current_file_table_time(void)
{
	return FILE_TABLE_TIME(clock_ns(CLOCK_MONOTONIC));
}

/* Deletes the chunks of a table; the root is gone already. Returns the number of deleted chunks. */
static u32 table_chunks_delete(int map, u32 number, u32 base, u32 chunks)
{
	u32 freed = 0;

	for (u32 i = 1; i < chunks && i < FILE_TABLE_CHUNKS_MAX; i++)
		freed += !table_map_delete(map, FILE_TABLE_KEY(number, base + i));
	return freed;
}

u32 table_remove(int map, u32 number)
{
	struct file_table_chunk root;

	if (table_map_get_and_delete(map, FILE_TABLE_KEY(number, FILE_TABLE_ROOT), &root))
		return 0;
	return 1 + table_chunks_delete(map, number, root.base, root.chunks);
}

static int read_map_keys(struct eviction *eviction)
{
	u64 *last = NULL;
	int result = 0;

	while (!result && eviction->count < KEYS_MAX) {
		result = array_make_room(eviction->keys, eviction->count, eviction->room);
		if (result)
			break;
		last = eviction->count ? &eviction->keys[eviction->count - 1] : NULL;
		result = table_map_next(eviction->map, last, &eviction->keys[eviction->count]);
		eviction->count += !result;
	}
	return result == -ENOENT ? 0 : result;
}

/* Adds the table of a file to the idle tables if it is idle, and deletes chunks without a root. The
 * keys of the file's chunks are keys[first] to keys[end - 1]. */
static void check_table_for_eviction(struct eviction *eviction, u32 first, u32 end)
{
	u32 number = KEY_NUMBER(eviction->keys[first]), unused_for;
	struct file_table_chunk root = {};
	int result = table_map_get(eviction->map, FILE_TABLE_KEY(number, FILE_TABLE_ROOT), &root);

	if (result && result != -ENOENT)
		return;
	unused_for = current_file_table_time() - root.used;
	if (!result && (s32)unused_for > (s32)TABLE_IDLE &&
	    !array_make_room(eviction->idle, eviction->idle_count, eviction->idle_room))
		eviction->idle[eviction->idle_count++] = (struct idle_table){number, unused_for};
	for (u32 i = first; i < end; i++) {
		u32 index = eviction->keys[i];

		if (index != FILE_TABLE_ROOT && index - root.base >= root.chunks)
			eviction->freed += !table_map_delete(eviction->map, eviction->keys[i]);
	}
}

static int compare_keys(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return (a > b) - (a < b);
}

static int compare_time_unused(const void *left, const void *right)
{
	u32 a = ((const struct idle_table *)left)->unused_for;
	u32 b = ((const struct idle_table *)right)->unused_for;

	return (a < b) - (a > b);
}

u32 tables_evict(int map, u32 wanted)
{
	struct eviction eviction = {.map = map};
	u32 end;

	if (!read_map_keys(&eviction)) {
		qsort(eviction.keys, eviction.count, sizeof(*eviction.keys), compare_keys);
		for (u32 first = 0; first < eviction.count; first = end) {
			u32 number = KEY_NUMBER(eviction.keys[first]);

			for (end = first + 1; end < eviction.count; end++)
				if (KEY_NUMBER(eviction.keys[end]) != number)
					break;
			check_table_for_eviction(&eviction, first, end);
		}
		qsort(eviction.idle, eviction.idle_count, sizeof(*eviction.idle),
		      compare_time_unused);
	}
	for (u32 i = 0; i < eviction.idle_count && eviction.freed < wanted; i++)
		eviction.freed += table_remove(map, eviction.idle[i].number);
	free(eviction.keys);
	free(eviction.idle);
	return eviction.freed;
}

#define ROOT_KEY(number) FILE_TABLE_KEY(number, FILE_TABLE_ROOT)

/* True if the last chunk of this root's table exists. */
static bool is_table_complete(int map, u32 number, const struct file_table_chunk *root)
{
	struct file_table_chunk chunk;
	u32 last = root->base + root->chunks - 1;

	return root->chunks == 1 || !table_map_get(map, FILE_TABLE_KEY(number, last), &chunk);
}

bool is_table_in_map(int map, u32 number)
{
	struct file_table_chunk root;

	return !table_map_get(map, ROOT_KEY(number), &root) &&
	       is_table_complete(map, number, &root);
}

bool is_table_in_map_and_not_partial(int map, u32 number)
{
	struct file_table_chunk root;

	return !table_map_get(map, ROOT_KEY(number), &root) && !root.is_partial &&
	       is_table_complete(map, number, &root);
}

/* Adds a chunk, and evicts tables if the map is full. `left`: the number of chunks still to add,
 * with this one. */
static int add_table_chunk_or_evict(int map, u64 key, const struct file_table_chunk *chunk,
				    u32 left)
{
	int result = table_map_add(map, key, chunk);

	while (result == -E2BIG && tables_evict(map, left))
		result = table_map_add(map, key, chunk);
	return result;
}

/* Adds the root chunk, or finds the equal one of another process. *base: the other chunks have keys
 * base + 1, base + 2, ...
 */
static int add_root_chunk(int map, u32 number, const struct file_table *table, u32 *base)
{
	bool is_partial = table->chunks[FILE_TABLE_ROOT].is_partial;
	struct file_table_chunk root = table->chunks[FILE_TABLE_ROOT];
	u32 random;
	int result = getrandom(&random, sizeof(random), 0) == sizeof(random) ? 0 : -errno;

	/* The base is at most 2^31, so the keys of all chunks stay below 2^32. */
	root.base = 1 + random / 2;
	root.chunks = table->count;
	root.used = current_file_table_time();
	result = result ?: add_table_chunk_or_evict(map, ROOT_KEY(number), &root, table->count);
	if (result == -EEXIST)
		result = table_map_get(map, ROOT_KEY(number), &root);
	if (result)
		return result;
	*base = root.base;
	return root.chunks == table->count && root.is_partial == is_partial ? 0 : -ESTALE;
}

/* True if another process has added an equal chunk. A BPF program may have set `used` in it. */
static bool has_equal_chunk(int map, u64 key, const struct file_table_chunk *chunk)
{
	struct file_table_chunk other;

	if (table_map_get(map, key, &other))
		return false;
	other.used = chunk->used;
	return !memcmp(&other, chunk, sizeof(other));
}

static int add_table_chunks(int map, u32 number, const struct file_table *table)
{
	struct file_table_chunk root;
	u32 base;
	int result = add_root_chunk(map, number, table, &base);

	if (result)
		return result;
	for (u32 i = 1; i < table->count && !result; i++) {
		u64 key = FILE_TABLE_KEY(number, base + i);

		result = add_table_chunk_or_evict(map, key, &table->chunks[i], table->count - i);
		if (result == -EEXIST)
			result = has_equal_chunk(map, key, &table->chunks[i]) ? 0 : -ESTALE;
	}
	if (!result && !table_map_get(map, ROOT_KEY(number), &root) && root.base == base)
		return 0;
	if (result)
		table_remove(map, number);
	table_chunks_delete(map, number, base, table->count);
	return result ?: -ESTALE;
}

int table_publish(int map, u32 number, const struct file_table *table)
{
	struct file_table_chunk root;

	/* A table that also has rows from the analysis of the machine code replaces a table without
	 * them. */
	if (!table->chunks[FILE_TABLE_ROOT].is_partial &&
	    !table_map_get(map, ROOT_KEY(number), &root) && root.is_partial) {
		/* The file's code has no rule while the map has neither the old root nor the new
		 * one. To keep this time short, the chunks of the old table are deleted last. */
		struct file_table_chunk old;
		bool had_old = !table_map_get_and_delete(map, ROOT_KEY(number), &old);
		int result = add_table_chunks(map, number, table);

		if (had_old)
			table_chunks_delete(map, number, old.base, old.chunks);
		return result;
	}
	return add_table_chunks(map, number, table);
}
