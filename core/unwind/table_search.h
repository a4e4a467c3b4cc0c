/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the rule of a file offset in the table of the whole file (abi/file_table.h): three binary
 * searches of ten steps.
 *
 * The table may be deleted during the search, and other tables may reuse the memory of its chunks.
 * At the end, the root is therefore looked up again. If the root is the same as at the beginning,
 * it existed all the time, and so did the chunks, which are deleted after the root.
 *
 * The embedder supplies two functions: natively by linking them, in BPF by defining them before it
 * includes table_search.c.
 */
#ifndef CORE_TABLE_SEARCH_H
#define CORE_TABLE_SEARCH_H

#include <stdbool.h>

#include "env.h"
#include "file_table.h"

/* Defined by the embedder: the chunk with that key, or NULL. */
CORE_INLINE const struct file_table_chunk *file_table_chunk(const struct file_table_search *search,
							    u32 index);

/* Defined by the embedder: marks the root's table as being in use. */
CORE_INLINE void file_table_mark_used(struct file_table_search *search,
				      const struct file_table_chunk *root);

/*
 * Sets search->rule to the rule of search->offset. 0: the offset has no rule. Chunks may have any
 * contents.
 */
CORE_GLOBAL int file_table_find(struct file_table_search *search);

#endif
