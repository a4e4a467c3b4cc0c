/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Takes tables out of the engine's map that nobody has used for long, for others that come. */
#ifndef LIB_SYMBOL_TABLE_EVICT_H
#define LIB_SYMBOL_TABLE_EVICT_H

#include "file_table.h"

/* A table that was used since then stays: FILE_TABLE_TIME(), nine minutes. */
#define TABLE_IDLE 8U

/* FILE_TABLE_TIME() of now. */
u32 table_now(void);

/* Makes room for `wanted` chunks, as far as there are such tables, the longest unused ones first:
 * the number of chunks that went. */
u32 tables_evict(int map, u32 wanted);

/* Takes the table of a file out, if there is one: the number of its chunks that went. */
u32 table_remove(int map, u32 number);

/* Deletes the chunks of a table but for the root, which is gone: the number of those that went. */
u32 table_chunks_delete(int map, u32 number, u32 base, u32 chunks);

#endif
