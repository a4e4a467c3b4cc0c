/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's map of tables (abi/file_table.h), for a process that has no more than a file of it.
 * All return 0 or -errno. */
#ifndef LIB_SYMBOL_TABLE_MAP_H
#define LIB_SYMBOL_TABLE_MAP_H

#include "file_table.h"

/* -ENOENT. */
int table_map_get(int map, u64 key, struct file_table_chunk *chunk);
int table_map_delete(int map, u64 key);

/* Both at once: of several callers one has it. */
int table_map_take(int map, u64 key, struct file_table_chunk *chunk);

/* -EEXIST; -E2BIG: the map is full. */
int table_map_add(int map, u64 key, const struct file_table_chunk *chunk);

/* The key behind another one, or with NULL the first one, in no order; after a key that is gone
 * comes the first one again. -ENOENT: there is none. */
int table_map_next(int map, const u64 *key, u64 *next);

#endif
