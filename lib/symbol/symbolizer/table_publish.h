/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds unwind tables of files (abi/file_table.h) to the engine's map, and evicts unused ones. */
#ifndef LIB_SYMBOL_TABLE_PUBLISH_H
#define LIB_SYMBOL_TABLE_PUBLISH_H

#include <stdbool.h>

#include "file_table.h"
#include "symbol/unwind/file_table_pack.h"

/* The functions table_map_*() work on one element of the engine's map of unwind tables
 * (abi/file_table.h); `map` is the map's descriptor. They return 0 or -errno. */

/* The first function copies an element to *chunk, the second deletes an element. -ENOENT: the map
 * does not have the key. */
int table_map_get(int map, u64 key, struct file_table_chunk *chunk);
int table_map_delete(int map, u64 key);

/* Gets and deletes an element atomically: of several callers at once, the call succeeds for one. */
int table_map_get_and_delete(int map, u64 key, struct file_table_chunk *chunk);

/* Adds an element. -EEXIST: the key exists; -E2BIG: the map is full. */
int table_map_add(int map, u64 key, const struct file_table_chunk *chunk);

/* Gives the key after `key`, or the first key if `key` is NULL, in no order. If `key` is gone, the
 * map gives the first key again. -ENOENT: no more keys. */
int table_map_next(int map, const u64 *key, u64 *next);

/* The unit is FILE_TABLE_TIME(), so 8 are nine minutes: tables that were used within this time are
 * not evicted. */
#define TABLE_IDLE 8U

/* The current time as FILE_TABLE_TIME(). */
u32 current_file_table_time(void);

/* Evicts idle tables, the longest unused first, until `wanted` chunks are free or no idle table is
 * left. Returns the number of deleted chunks. */
u32 tables_evict(int map, u32 wanted);

/* Removes the table of a file, if it exists. Returns the number of deleted chunks. */
u32 table_remove(int map, u32 number);

/* True if all chunks of a file's table are in the engine's map; the table may be partial. */
bool is_table_in_map(int map, u32 number);

/* True if all chunks of a file's table are in the engine's map, and the table is not partial. */
bool is_table_in_map_and_not_partial(int map, u32 number);

/* Adds the table of a file, or completes the same table that another process has begun. A partial
 * table is replaced by one that is not partial. If the map is full, idle tables are evicted. 0;
 * -E2BIG: the map is full of tables in use; -ESTALE: the map has another table of the file, or this
 * one was evicted meanwhile; -errno. After a failure the map has no chunk of the table. */
int table_publish(int map, u32 number, const struct file_table *table);

#endif
