/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's map of unwind tables (abi/file_table.h), by its descriptor. All functions return 0
 * or -errno. */
#ifndef LIB_SYMBOL_TABLE_MAP_H
#define LIB_SYMBOL_TABLE_MAP_H

#include "file_table.h"

/* -ENOENT: no such key. */
int table_map_get(int map, u64 key, struct file_table_chunk *chunk);
int table_map_delete(int map, u64 key);

/* Gets and deletes an element atomically: it succeeds for one of several callers. */
int table_map_take(int map, u64 key, struct file_table_chunk *chunk);

/* -EEXIST: the key exists; -E2BIG: the map is full. */
int table_map_add(int map, u64 key, const struct file_table_chunk *chunk);

/* The key behind `key`, or the first key for NULL, in no order; behind a key that is gone, the
 * first key again. -ENOENT: no more keys. */
int table_map_next(int map, const u64 *key, u64 *next);

#endif
