/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of files that were asked for before, in the process that parses them: a recorder of many
 * windows has a few new addresses in the same large files each time. A file is what it was as long
 * as its inode, its size, its times and its build id are. What was used last stays, as far as its
 * bytes go.
 */
#ifndef LIB_SYMBOL_FILE_MEMO_H
#define LIB_SYMBOL_FILE_MEMO_H

#include <stdbool.h>
#include <time.h>

#include "symbol/elf/elf_segment.h"
#include "symbol/table/symbol_table.h"
#include "trace/event.h"

#define FILE_MEMO_BYTES (16UL << 20)
#define FILE_MEMO_FILES 16

/* All bytes count: made by file_key_make() only. */
struct file_key {
	u64 device, inode, bytes;
	struct timespec written, changed;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
};

struct file_tables {
	struct symbol_table *symbols, *functions;
	struct elf_segments segments;
	bool has_functions; /* they were read */
};

/* 0 or -errno. */
int file_key_make(int file, const u8 *build_id, u32 build_id_bytes, struct file_key *key);

/* The tables are the caller's then. */
bool file_memo_take(const struct file_key *key, struct file_tables *tables);

/* Takes them over. */
void file_memo_put(const struct file_key *key, const struct file_tables *tables);

void file_tables_clear(struct file_tables *tables);

/* Drops the tables of all files. */
void file_memo_forget(void);

#endif
