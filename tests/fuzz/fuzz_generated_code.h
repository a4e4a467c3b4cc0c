/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What must hold of the names of generated code, whoever said them. */
#ifndef TESTS_FUZZ_GENERATED_CODE_H
#define TESTS_FUZZ_GENERATED_CODE_H

#include "fuzz_symbol_table.h"
#include "symbol/jit/generated_code.h"

static inline void generated_code_check(const struct generated_code *code,
					const struct code_range *range)
{
	struct symbol_table *table = table_create();
	struct symbol symbol;

	demand(!generated_code_seal(code, range, table));
	table_check(table);
	for (u32 i = 0; symbol_table_at(table, i, &symbol); i++)
		demand(symbol.start <= range->bytes && symbol.size <= range->bytes - symbol.start);
	symbol_table_free(&table);
}

#endif
