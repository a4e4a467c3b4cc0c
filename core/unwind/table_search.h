/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the rule of a place in a file in the table of the whole file (abi/file_table.h): three
 * binary searches of ten steps.
 *
 * The table may go meanwhile, and other chunks may take the memory of its chunks. So the root is
 * looked up again in the end: if it is the one that the search began with, it was there all the
 * time, and so were the chunks, which go later.
 *
 * The embedder supplies two functions, natively by linking them, in BPF by defining them before it
 * includes table_search.c.
 */
#ifndef CORE_TABLE_SEARCH_H
#define CORE_TABLE_SEARCH_H

#include <stdbool.h>

#include "env.h"
#include "file_table.h"

/* The embedder's: the chunk with that key, or NULL. */
CORE_INLINE const struct file_table_chunk *file_table_chunk(const struct file_table_search *search,
							    u32 index);

/* The embedder's: notes in the root that its table is in use. */
CORE_INLINE void file_table_use(struct file_table_search *search,
				const struct file_table_chunk *root);

/* Makes search->rule that of search->offset. 0: there is none. Any chunks give some answer. */
CORE_GLOBAL int file_table_find(struct file_table_search *search);

#endif
