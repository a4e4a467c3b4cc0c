/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Invariants of the names of generated code, for the fuzzers of all readers. */
#ifndef TESTS_FUZZ_GENERATED_CODE_H
#define TESTS_FUZZ_GENERATED_CODE_H

#include "fuzz_symbol_table.h"
#include "symbol/jit/generated_code.h"

static inline void generated_code_check(const struct generated_code *code, u64 base, u64 bytes)
{
	struct symbol_table *table = table_create();
	struct symbol symbol;

	demand(!generated_code_seal(code, base, bytes, table));
	table_check(table);
	for (u32 i = 0; symbol_table_at_index(table, i, &symbol); i++)
		demand(symbol.start <= bytes && symbol.size <= bytes - symbol.start);
	symbol_table_free(&table);
}

#endif
