/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All keys are read, and of each file the root. A chunk that no root leads to was left behind by
 * somebody who was killed; its root comes never again, so it goes. Then go the tables themselves.
 *
 * Several processes may do this at once: a table is that one's who has taken its root, and who
 * finds it gone takes the next.
 */
#include "table_evict.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "array.h"
#include "clock.h"
#include "table_map.h"

#define KEY_NUMBER(key) ((u32)((key) >> 32))
#define KEYS_MAX (2 * FILE_TABLE_CHUNKS_MAX) /* others may delete the one that was read last */

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

u32 table_now(void)
{
	return FILE_TABLE_TIME(clock_ns(CLOCK_MONOTONIC));
}

u32 table_chunks_delete(int map, u32 number, u32 base, u32 chunks)
{
	u32 freed = 0;

	for (u32 i = 1; i < chunks && i < FILE_TABLE_CHUNKS_MAX; i++)
		freed += !table_map_delete(map, FILE_TABLE_KEY(number, base + i));
	return freed;
}

u32 table_remove(int map, u32 number)
{
	struct file_table_chunk root;

	if (table_map_take(map, FILE_TABLE_KEY(number, FILE_TABLE_ROOT), &root))
		return 0;
	return 1 + table_chunks_delete(map, number, root.base, root.chunks);
}

static int read_keys(struct eviction *eviction)
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

static void note_idle(struct eviction *eviction, u32 number, const struct file_table_chunk *root)
{
	u32 unused_for = table_now() - root->used;

	if ((s32)unused_for <= (s32)TABLE_IDLE ||
	    array_make_room(eviction->idle, eviction->idle_count, eviction->idle_room))
		return;
	eviction->idle[eviction->idle_count++] = (struct idle_table){number, unused_for};
}

/* What the keys from `first` to before `end` lead to, all of one file. */
static void look_at_file(struct eviction *eviction, u32 first, u32 end)
{
	u32 number = KEY_NUMBER(eviction->keys[first]);
	struct file_table_chunk root = {};
	int result = table_map_get(eviction->map, FILE_TABLE_KEY(number, FILE_TABLE_ROOT), &root);

	if (result && result != -ENOENT)
		return;
	if (!result)
		note_idle(eviction, number, &root);
	for (u32 i = first; i < end; i++) {
		u32 index = eviction->keys[i];

		if (index != FILE_TABLE_ROOT && index - root.base >= root.chunks)
			eviction->freed += !table_map_delete(eviction->map, eviction->keys[i]);
	}
}

static int by_key(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return (a > b) - (a < b);
}

static int longest_unused_first(const void *left, const void *right)
{
	u32 a = ((const struct idle_table *)left)->unused_for;
	u32 b = ((const struct idle_table *)right)->unused_for;

	return (a < b) - (a > b);
}

static void look_at_files(struct eviction *eviction)
{
	u32 end;

	qsort(eviction->keys, eviction->count, sizeof(*eviction->keys), by_key);
	for (u32 first = 0; first < eviction->count; first = end) {
		u32 number = KEY_NUMBER(eviction->keys[first]);

		for (end = first + 1; end < eviction->count; end++)
			if (KEY_NUMBER(eviction->keys[end]) != number)
				break;
		look_at_file(eviction, first, end);
	}
}

u32 tables_evict(int map, u32 wanted)
{
	struct eviction eviction = {.map = map};

	if (!read_keys(&eviction)) {
		look_at_files(&eviction);
		qsort(eviction.idle, eviction.idle_count, sizeof(*eviction.idle),
		      longest_unused_first);
	}
	for (u32 i = 0; i < eviction.idle_count && eviction.freed < wanted; i++)
		eviction.freed += table_remove(map, eviction.idle[i].number);
	free(eviction.keys);
	free(eviction.idle);
	return eviction.freed;
}
