/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address ranges with names: filled in any order, sealed once, then searched. Kernel and ELF
 * symbols both end here.
 *
 * Where several symbols could name an address, the one that starts nearest before it and still
 * covers it wins. Of those that start together the higher rank wins, then the longer one, then the
 * one with fewer leading underscores (malloc, not __libc_malloc), then the first added.
 *
 * A label does not end a function of unknown size: it lies behind one that takes labels, or is
 * called "FUNCTION.label", as nasm does.
 */
#ifndef LIB_SYMBOL_SYMBOL_TABLE_H
#define LIB_SYMBOL_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

struct symbol_table;

struct symbol {
	u64 start;
	u64 size;  /* 0: not known, it ends where the next symbol starts */
	u64 limit; /* it ends here at the latest */
	u32 rank;
	const char *name; /* NULL: names nothing, only ends what comes before it */
	size_t name_bytes;
	bool is_label;	   /* where no size says more, a place inside the symbol before */
	bool takes_labels; /* a function: what may be labels behind it are */
};

int symbol_table_create(struct symbol_table **out);
void symbol_table_free(struct symbol_table **table);

/* 0, -ENOMEM, or -E2BIG. A symbol that covers nothing is left out. */
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol);

/* Of memory that it takes. */
size_t symbol_table_bytes(const struct symbol_table *table);

/* Call once, after the last add and before the first find. */
void symbol_table_seal(struct symbol_table *table);

/* The symbol that covers the address: its start, size and name. The name lives as long as the
 * table. */
bool symbol_table_find(const struct symbol_table *table, u64 address, struct symbol *found);

/* Whether a symbol covers any address from start to before end. */
bool symbol_table_touches(const struct symbol_table *table, u64 start, u64 end);

/* Whether one symbol is that of all addresses from start, its own, to before end. */
bool symbol_table_is_alone(const struct symbol_table *table, u64 start, u64 end);

/* Named symbols after sealing, in the order of their start: false once the index is past the last.
 */
bool symbol_table_at(const struct symbol_table *table, u32 index, struct symbol *symbol);

#endif
