/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Invariants of a sealed table of names. */
#ifndef TESTS_FUZZ_SYMBOL_TABLE_H
#define TESTS_FUZZ_SYMBOL_TABLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/table/symbol_table.h"

#define demand(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

static inline struct symbol_table *table_create(void)
{
	struct symbol_table *table;

	if (symbol_table_create(&table))
		abort();
	return table;
}

/* Symbols ascend; each has a size and a name, and a look-up of its start finds it. */
static inline void table_check(const struct symbol_table *table)
{
	struct symbol symbol, found;
	u64 last = 0;

	for (u32 i = 0; symbol_table_at_index(table, i, &symbol); i++) {
		demand(symbol.size && symbol.size <= UINT64_MAX - symbol.start);
		demand(!i || symbol.start > last);
		demand(strlen(symbol.name) == symbol.name_bytes);
		demand(symbol_table_find(table, symbol.start, &found));
		demand(found.start == symbol.start && found.name == symbol.name);
		last = symbol.start;
	}
}

#endif
