/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The name of an address in a table of names. */
#ifndef TESTS_UNIT_SYMBOL_NAMED_TABLE_H
#define TESTS_UNIT_SYMBOL_NAMED_TABLE_H

#include "symbol/jit/generated_code.h"
#include "unit_test.h"

static inline void assert_name(const struct symbol_table *table, u64 address, u64 start,
			       const char *name)
{
	struct symbol symbol;

	assert_true(symbol_table_find(table, address, &symbol));
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.start, start);
}

static inline void assert_nameless(const struct symbol_table *table, u64 address)
{
	struct symbol symbol;

	assert_false(symbol_table_find(table, address, &symbol));
}

/* The names of generated code in [base, base + bytes); frees the code. */
static inline struct symbol_table *table_in(struct generated_code *code, u64 base, u64 bytes)
{
	struct symbol_table *table = NULL;

	assert_int_equal(symbol_table_create(&table), 0);
	assert_int_equal(generated_code_seal(code, base, bytes, table), 0);
	generated_code_clear(code);
	return table;
}

static inline struct symbol_table *table_of(struct generated_code *code)
{
	return table_in(code, 0, UINT64_MAX);
}

#endif
