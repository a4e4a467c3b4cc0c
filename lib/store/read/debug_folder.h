/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs and libraries below a folder, by build id, whatever they are called there. */
#ifndef LIB_STORE_READ_DEBUG_FOLDER_H
#define LIB_STORE_READ_DEBUG_FOLDER_H

#include "symbol/debuginfo/debug_lookup.h"

struct debug_folder;

/* Goes through the folder once; a sandbox reads the files. What cannot be opened is left out. */
int debug_folder_create(const char *folder, struct debug_lookup *lookup, struct debug_folder **out);
void debug_folder_free(struct debug_folder **files);

/* Where the file is, as a path from the folder: "/bin/x"; NULL: it is not there. */
const char *debug_folder_find(const struct debug_folder *files, const u8 *build_id, u32 bytes);

#endif
