/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds function names to a store that its hosts did not know. Frames are looked up by build id in
 * files of this machine, of a folder, or of debuginfod servers. The names are sent back as rows
 * that replace names from symbol tables, inlined functions and lines included. One machine with
 * debug files serves all hosts.
 *
 * A sandbox reads the files: symbol/debuginfo/debug_lookup.h.
 */
#ifndef LIB_STORE_READ_STORE_SYMBOLIZE_H
#define LIB_STORE_READ_STORE_SYMBOLIZE_H

#include "store/wire/clickhouse.h"
#include "symbol/debuginfo/debug_lookup.h"

/*
 * Finds programs and libraries in a folder and its subfolders by build id, whatever their file
 * names are.
 */

struct debug_folder;

/* Reads the folder once; a sandbox reads the files. Files that cannot be opened are skipped. */
int debug_folder_create(const char *folder, struct debug_lookup *lookup, struct debug_folder **out);
void debug_folder_free(struct debug_folder **files);

/* Returns the file's path from the folder, "/bin/x"; NULL if there is no such file. */
const char *debug_folder_find(const struct debug_folder *files, const u8 *build_id, u32 bytes);

struct symbolize_counts {
	u64 objects, frames; /* number of objects and of frames that had no debug information */
	u64 named_objects, named; /* number of objects and of frames that got names */
};

/*
 * `files`: the files of the lookup's sysroot; NULL: no sysroot. `days`: the frames of today and of
 * this number of days before today are looked up. The results are added to *counts, also after a
 * failure.
 */
int store_symbolize(struct clickhouse *server, struct debug_lookup *lookup,
		    const struct debug_folder *files, u32 days, struct symbolize_counts *counts,
		    struct stackmap_error *error);

#endif
