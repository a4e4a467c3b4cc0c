/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Puts the table of a file (abi/file_table.h) where the programs look for it. */
#ifndef LIB_SYMBOL_TABLE_PUBLISH_H
#define LIB_SYMBOL_TABLE_PUBLISH_H

#include <stdbool.h>

#include "symbol/unwind/file_table_pack.h"

/* All of it; `map` is the engine's. */
bool table_is_published(int map, u32 number);

/* All of it, with the rows of analysed code. */
bool table_is_whole(int map, u32 number);

/* Goes on with what others have begun: it is the same table, of the same file. A partial table goes
 * for one that is not partial. Where the map is full, tables that nobody uses go (table_evict.h).
 * -E2BIG: there is no room, since all are in use; -ESTALE: another table of the file is there, or
 * this one is gone already; -errno. On failure nothing of it is there. */
int table_publish(int map, u32 number, const struct file_table *table);

#endif
