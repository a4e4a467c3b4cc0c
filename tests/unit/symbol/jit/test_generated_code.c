/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "named_table.h"
#include "unit_test.h"

#define BASE 0x7f0000000000ULL

static void add(struct generated_code *code, u64 start, u64 bytes, const char *name)
{
	assert_int_equal(generated_code_add(code, start, bytes, name, strlen(name)), 0);
}

TEST(nothing)
{
	struct generated_code code = {};
	struct symbol_table *table = table_of(&code);

	assert_nameless(table, 0);
	symbol_table_free(&table);
}

TEST(empty_functions_are_left_out)
{
	struct generated_code code = {};
	struct symbol_table *table;

	add(&code, 0x1000, 0x10, "first");
	add(&code, 0x1008, 0, "empty");
	add(&code, UINT64_MAX, 2, "wraps");
	add(&code, 0x1008, UINT64_MAX, "wraps");
	add(&code, UINT64_MAX - 1, 1, "last");
	assert_int_equal(code.count, 2);
	table = table_of(&code);
	assert_name(table, 0x1008, 0x1000, "first");
	assert_name(table, UINT64_MAX - 1, UINT64_MAX - 1, "last");
	symbol_table_free(&table);
}

/* A function that was overwritten in part has no name in the rest, either. */
TEST(the_newer_wins)
{
	struct generated_code code = {};
	struct symbol_table *table;

	add(&code, 0x1000, 0x100, "whole");
	add(&code, 0x2000, 0x100, "head");
	add(&code, 0x3000, 0x100, "inside");
	add(&code, 0x4000, 0x1000, "around");
	add(&code, 0x5000, 0x100, "beside");
	add(&code, 0x1000, 0x100, "again");
	add(&code, 0x20f0, 0x20, "tail");
	add(&code, 0x2ff0, 0x200, "larger");
	add(&code, 0x4800, 0x10, "smaller");
	add(&code, 0x5100, 0x100, "neighbour");
	table = table_of(&code);
	assert_name(table, 0x1050, 0x1000, "again");
	assert_nameless(table, 0x2000);
	assert_name(table, 0x2100, 0x20f0, "tail");
	assert_name(table, 0x3050, 0x2ff0, "larger");
	assert_nameless(table, 0x47ff);
	assert_name(table, 0x4800, 0x4800, "smaller");
	assert_nameless(table, 0x4810);
	assert_name(table, 0x50ff, 0x5000, "beside");
	assert_name(table, 0x5100, 0x5100, "neighbour");
	symbol_table_free(&table);
}

/* The function that has overwritten another one may be overwritten itself: the first one stays
 * dead. */
TEST(overwritten_by_the_overwritten)
{
	struct generated_code code = {};
	struct symbol_table *table;

	add(&code, 0x1000, 0x20, "first");
	add(&code, 0x1010, 0x20, "second");
	add(&code, 0x1028, 0x20, "third");
	table = table_of(&code);
	assert_nameless(table, 0x1000);
	assert_nameless(table, 0x1020);
	assert_name(table, 0x1028, 0x1028, "third");
	symbol_table_free(&table);
}

/* Code without a name has no symbol, and overwrites the function before it. */
TEST(without_a_name)
{
	struct generated_code code = {};
	struct symbol_table *table;

	add(&code, 0x1000, 0x20, "first");
	assert_int_equal(generated_code_add(&code, 0x1010, 0x20, NULL, 0), 0);
	table = table_of(&code);
	assert_nameless(table, 0x1000);
	assert_nameless(table, 0x1010);
	symbol_table_free(&table);
}

TEST(only_the_range)
{
	const u64 bytes = 1ULL << 40;
	struct generated_code code = {};
	struct symbol_table *table;

	add(&code, BASE - 1, 2, "across");
	add(&code, BASE + 0x1000, 0x10, "inside");
	add(&code, BASE + bytes - 1, 1, "last");
	add(&code, BASE + bytes, 1, "behind");
	add(&code, 0x1000, 0x10, "elsewhere");
	table = table_in(&code, BASE, bytes);
	assert_nameless(table, 0);
	assert_name(table, 0x1008, 0x1000, "inside");
	assert_name(table, bytes - 1, bytes - 1, "last");
	assert_nameless(table, bytes);
	symbol_table_free(&table);
}

/* Every fourth function is overwritten by one that covers it and the next one. */
TEST(many)
{
	enum { FUNCTIONS = 200000 };
	struct generated_code code = {};
	struct symbol_table *table;
	char name[32];

	for (u32 i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "function %u", i);
		add(&code, i * 16ULL, 16, name);
	}
	for (u32 i = 0; i < FUNCTIONS; i += 4)
		add(&code, i * 16ULL, 32, "again");
	table = table_of(&code);
	assert_name(table, 40 * 16 + 0x1f, 40 * 16, "again");
	assert_name(table, 42 * 16, 42 * 16, "function 42");
	assert_name(table, (FUNCTIONS - 1) * 16, (FUNCTIONS - 1) * 16, "function 199999");
	symbol_table_free(&table);
}

TEST(too_many)
{
	struct generated_code code = {};

	for (u32 i = 0; i < GENERATED_CODE_MAX; i++)
		assert_int_equal(generated_code_add(&code, i, 1, NULL, 0), 0);
	assert_int_equal(generated_code_add(&code, 0, 1, NULL, 0), -E2BIG);
	generated_code_clear(&code);
	assert_int_equal(code.count, 0);
}
