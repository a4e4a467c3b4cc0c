/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packs the rows of a file into the chunks that unwinding in the kernel at the event searches
 * (abi/file_table.h). */
#ifndef LIB_SYMBOL_FILE_TABLE_PACK_H
#define LIB_SYMBOL_FILE_TABLE_PACK_H

#include "code_rows.h"
#include "file_table.h"

/* All zero: empty. */
struct file_table {
	struct file_table_chunk *chunks; /* the root first */
	u32 count, room;
};

/* Packs the rows into chunks; code_rows_are_sound() must hold. -E2BIG: too many rows for one root;
 * -ENOMEM. The caller clears the table in any case. */
int file_table_pack(const struct code_rows *rows, struct file_table *table);

void file_table_clear(struct file_table *table);

#endif
