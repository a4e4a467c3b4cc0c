/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds names to a store that its hosts did not have: frames are looked up by build id in files of
 * this machine, of a folder, or of debuginfod servers, and sent back with the rank of debug
 * information, inlined functions and lines included. One machine with debug files serves all hosts.
 *
 * A sandbox reads the files: symbol/debuginfo/debug_lookup.h.
 */
#ifndef LIB_STORE_READ_STORE_SYMBOLIZE_H
#define LIB_STORE_READ_STORE_SYMBOLIZE_H

#include "store/wire/clickhouse.h"
#include "symbol/debuginfo/debug_lookup.h"

/* Finds programs and libraries below a folder by build id, regardless of their names. */

struct debug_folder;

/* Walks the folder once; a sandbox reads the files. Files that cannot be opened are skipped. */
int debug_folder_create(const char *folder, struct debug_lookup *lookup, struct debug_folder **out);
void debug_folder_free(struct debug_folder **files);

/* Returns the file's path from the folder, "/bin/x"; NULL if there is no such file. */
const char *debug_folder_find(const struct debug_folder *files, const u8 *build_id, u32 bytes);

struct symbolize_counts {
	u64 objects, frames;	  /* objects and frames without debug information */
	u64 named_objects, named; /* objects and frames that got names */
};

/* `files`: those of the lookup's sysroot; NULL: no sysroot. `days`: number of days before today.
 * Adds to the counts, also on failure. */
int store_symbolize(struct clickhouse *server, struct debug_lookup *lookup,
		    const struct debug_folder *files, u32 days, struct symbolize_counts *counts,
		    struct stackmap_error *error);

#endif
