/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds programs and libraries below a folder by build id, regardless of their names. */
#ifndef LIB_STORE_READ_DEBUG_FOLDER_H
#define LIB_STORE_READ_DEBUG_FOLDER_H

#include "symbol/debuginfo/debug_lookup.h"

struct debug_folder;

/* Walks the folder once; a sandbox reads the files. Files that cannot be opened are skipped. */
int debug_folder_create(const char *folder, struct debug_lookup *lookup, struct debug_folder **out);
void debug_folder_free(struct debug_folder **files);

/* Returns the file's path from the folder, "/bin/x"; NULL if there is no such file. */
const char *debug_folder_find(const struct debug_folder *files, const u8 *build_id, u32 bytes);

#endif
