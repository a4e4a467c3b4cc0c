/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Puts the table of a file (abi/file_table.h) where the programs look for it. */
#ifndef LIB_SYMBOL_TABLE_PUBLISH_H
#define LIB_SYMBOL_TABLE_PUBLISH_H

#include <stdbool.h>

#include "symbol/unwind/file_table_pack.h"

/* `map` is the engine's. */
bool table_is_published(int map, u32 number);

/* Chunks that others have put there already are the same: they come of the same file. -E2BIG: there
 * is no room; -errno. On failure nothing is there. */
int table_publish(int map, u32 number, const struct file_table *table);

#endif
