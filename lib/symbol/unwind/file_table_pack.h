/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a file as the chunks that the direct walk searches (abi/file_table.h). */
#ifndef LIB_SYMBOL_FILE_TABLE_PACK_H
#define LIB_SYMBOL_FILE_TABLE_PACK_H

#include "code_rows.h"
#include "file_table.h"

/* All zero: empty. */
struct file_table {
	struct file_table_chunk *chunks; /* the root first */
	u32 count, room;
};

/* Packs sound rows. -E2BIG: too many for one root; -ENOMEM. The caller clears the table in any
 * case. */
int file_table_pack(const struct code_rows *rows, struct file_table *table);

void file_table_clear(struct file_table *table);

#endif
