/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the rule of a place in a file in the table of the whole file (abi/file_table.h): three
 * binary searches of ten steps.
 *
 * The embedder supplies a function, natively by linking it, in BPF by defining it before it
 * includes table_search.c.
 */
#ifndef CORE_TABLE_SEARCH_H
#define CORE_TABLE_SEARCH_H

#include <stdbool.h>

#include "env.h"
#include "file_table.h"

/* The embedder's: a chunk of the file's table, or NULL. */
CORE_INLINE const struct file_table_chunk *file_table_chunk(const struct file_table_search *search,
							    u32 index);

/* Makes search->rule that of search->offset. 0: there is none. Any chunks give some answer. */
CORE_GLOBAL int file_table_find(struct file_table_search *search);

#endif
