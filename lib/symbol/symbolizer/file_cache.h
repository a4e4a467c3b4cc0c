/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of files, kept in the process that parses them: a recorder of many windows needs a few new
 * addresses of the same large files in each window. A file is unchanged as long as its inode, size,
 * times and build id are. The tables used least recently are dropped when the cache is full.
 */
#ifndef LIB_SYMBOL_FILE_CACHE_H
#define LIB_SYMBOL_FILE_CACHE_H

#include <stdbool.h>
#include <time.h>

#include "symbol/elf/elf_layout.h"
#include "symbol/table/symbol_table.h"
#include "trace/event.h"

#define FILE_CACHE_BYTES (16UL << 20)
#define FILE_CACHE_FILES 16

/* The identity of a cached file. Keys are compared with memcmp(), so only file_key_make() makes
 * them. */
struct file_key {
	u64 device, inode, bytes;
	struct timespec written, changed;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
};

struct file_tables {
	struct symbol_table *symbols, *functions;
	struct elf_segments segments;
	bool has_functions; /* `functions` is complete */
};

/* Makes the key of an open file with this build id. 0 or -errno. */
int file_key_make(int file, const u8 *build_id, u32 build_id_bytes, struct file_key *key);

/* Takes the tables of a file out of the cache, for the caller. False: not cached. */
bool file_cache_take(const struct file_key *key, struct file_tables *tables);

/* Takes over the tables of a file. */
void file_cache_put(const struct file_key *key, const struct file_tables *tables);

/* Drops cached tables until `bytes` bytes more fit into the cache, or no table is left. */
void file_cache_make_room(size_t bytes);

void file_tables_clear(struct file_tables *tables);

/* Drops the tables of all files. */
void file_cache_forget(void);

#endif
