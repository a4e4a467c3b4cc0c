/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address ranges with names, for kernel and ELF symbols: filled in any order, sealed once, then
 * searched.
 *
 * If several symbols cover an address, the symbol with the latest start wins. Among symbols with
 * the same start the higher rank wins, then the longer symbol, then the name with fewer leading
 * underscores (malloc, not __libc_malloc), then the symbol that was added first.
 *
 * A label does not end a function of unknown size. A label is a symbol after a function that takes
 * labels, or a symbol with the name "FUNCTION.label", as nasm writes it.
 */
#ifndef LIB_SYMBOL_SYMBOL_TABLE_H
#define LIB_SYMBOL_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

struct symbol_table;

struct symbol {
	u64 start;
	u64 size;  /* 0 = not known: the symbol ends where the next one starts */
	u64 limit; /* upper bound of the symbol's end */
	u32 rank;
	const char *name; /* name of the symbol; NULL = the entry is a bound: the symbol before it
			     ends here */
	size_t name_bytes;
	bool is_label;	   /* the entry may be a label inside the function before it */
	bool takes_labels; /* the entry is a function: symbols after it with `is_label` are its
			      labels */
};

int symbol_table_create(struct symbol_table **out);
void symbol_table_free(struct symbol_table **table);

/* Adds a symbol. 0, -ENOMEM, or -E2BIG. A symbol without a range is left out. */
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol);

/* Bytes of memory that the table takes. */
size_t symbol_table_bytes(const struct symbol_table *table);

/* Sorts the symbols and sets unknown ends. Call once, after the last add and before the first find.
 */
void symbol_table_seal(struct symbol_table *table);

/* Finds the symbol that covers the address: its start, size and name. The name lives as long as the
 * table. */
bool symbol_table_find(const struct symbol_table *table, u64 address, struct symbol *found);

/* True if a symbol covers any address of [start, end). */
bool symbol_table_touches(const struct symbol_table *table, u64 start, u64 end);

/* True if a symbol begins at start, and symbol_table_find() gives this symbol for all addresses of
 * [start, end). */
bool symbol_table_is_one_symbol(const struct symbol_table *table, u64 start, u64 end);

/* Gives the symbol with this index, in the order of starts, of a sealed table. False: the table has
 * no such index. */
bool symbol_table_at_index(const struct symbol_table *table, u32 index, struct symbol *symbol);

#endif
