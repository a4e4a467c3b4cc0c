/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbol of an address: order of preference, ends, gaps, nesting; and a comparison with a
 * linear search of all symbols. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/table/symbol_table.h"
#include "unit_test.h"

static struct symbol_table *table;

static int setup(void **state)
{
	(void)state;
	return symbol_table_create(&table);
}

static int teardown(void **state)
{
	(void)state;
	symbol_table_free(&table);
	assert_null(table);
	return 0;
}

static void add(const char *name, u64 start, u64 size, u64 limit, u32 rank)
{
	struct symbol symbol = {.start = start,
				.size = size,
				.limit = limit,
				.rank = rank,
				.name = name,
				.name_bytes = name ? strlen(name) : 0};

	assert_int_equal(symbol_table_add(table, &symbol), 0);
}

/* `name` NULL: no symbol covers the address. */
static void expect(u64 address, const char *name, u64 start, u64 size)
{
	struct symbol found;

	if (!name) {
		assert_false(symbol_table_find(table, address, &found));
		return;
	}
	assert_true(symbol_table_find(table, address, &found));
	assert_string_equal(found.name, name);
	assert_int_equal(found.start, start);
	assert_int_equal(found.size, size);
}

TEST(empty_table_finds_nothing, setup, teardown)
{
	symbol_table_seal(table);
	expect(0, NULL, 0, 0);
	expect(UINT64_MAX, NULL, 0, 0);
}

TEST(sizes_end_symbols, setup, teardown)
{
	add("b", 200, 10, 1000, 0);
	add("a", 100, 50, 1000, 0);
	symbol_table_seal(table);
	expect(99, NULL, 0, 0);
	expect(100, "a", 100, 50);
	expect(149, "a", 100, 50);
	expect(150, NULL, 0, 0);
	expect(200, "b", 200, 10);
	expect(210, NULL, 0, 0);
}

TEST(unknown_sizes_end_at_the_next_symbol_or_limit, setup, teardown)
{
	add("a", 100, 0, 1000, 0);
	add("b", 200, 0, 250, 0);
	add("c", 300, 0, 1000, 0);
	add(NULL, 400, 0, 0, 0);
	symbol_table_seal(table);
	expect(199, "a", 100, 100);
	expect(249, "b", 200, 50);
	expect(250, NULL, 0, 0);
	expect(399, "c", 300, 100);
	expect(400, NULL, 0, 0);
}

TEST(a_size_is_cut_at_the_limit, setup, teardown)
{
	add("a", 100, UINT64_MAX, 150, 0);
	add("b", 160, 10, 160, 0);
	symbol_table_seal(table);
	expect(149, "a", 100, 50);
	expect(150, NULL, 0, 0);
	expect(160, NULL, 0, 0);
}

TEST(the_best_alias_wins, setup, teardown)
{
	add("local", 100, 50, 1000, 0);
	add("global", 100, 50, 1000, 2);
	add("short", 200, 10, 1000, 2);
	add("long", 200, 20, 1000, 2);
	add("__libc_malloc", 300, 10, 1000, 2);
	add("malloc", 300, 10, 1000, 2);
	add("first", 400, 10, 1000, 2);
	add("second", 400, 10, 1000, 2);
	add(NULL, 500, 0, 0, 9);
	add("named", 500, 10, 1000, 0);
	symbol_table_seal(table);
	expect(100, "global", 100, 50);
	expect(200, "long", 200, 20);
	expect(300, "malloc", 300, 10);
	expect(400, "first", 400, 10);
	expect(500, "named", 500, 10);
}

TEST(a_range_is_one_symbol_where_no_other_begins, setup, teardown)
{
	add("outer", 0x100, 0x40, ~0ULL, 1);
	add("inner", 0x120, 8, ~0ULL, 1);
	symbol_table_seal(table);
	assert_true(symbol_table_is_one_symbol(table, 0x120, 0x128));
	assert_true(symbol_table_is_one_symbol(table, 0x100, 0x120));
	assert_false(symbol_table_is_one_symbol(table, 0x100, 0x121));
	assert_false(symbol_table_is_one_symbol(table, 0x128, 0x130));
	assert_false(symbol_table_is_one_symbol(table, 0x120, 0x129));
	assert_false(symbol_table_is_one_symbol(table, 0x80, 0x90));
}

static void add_unsized(const char *name, u64 start, bool is_label, bool takes_labels)
{
	assert_int_equal(symbol_table_add(table, &(struct symbol){.start = start,
								  .limit = 1000,
								  .name = name,
								  .name_bytes = strlen(name),
								  .is_label = is_label,
								  .takes_labels = takes_labels}),
			 0);
}

TEST(a_label_does_not_end_a_function_of_unknown_size, setup, teardown)
{
	add_unsized("function", 100, false, true);
	add_unsized("loop", 120, true, false);
	add_unsized("exit", 140, true, false);
	add_unsized("untyped", 200, false, false);
	add_unsized("untyped.loop", 210, true, false);
	add_unsized("helper", 220, true, false);
	symbol_table_seal(table);
	expect(150, "function", 100, 100);
	expect(215, "untyped", 200, 20);
	expect(225, "helper", 220, 780);
}

TEST(nested_symbols_give_way_after_their_end, setup, teardown)
{
	add("outer", 100, 100, 1000, 0);
	add("inner", 120, 20, 1000, 0);
	add("innermost", 125, 5, 1000, 0);
	add("label", 130, 0, 1000, 0);
	symbol_table_seal(table);
	expect(119, "outer", 100, 100);
	expect(124, "inner", 120, 20);
	expect(125, "innermost", 125, 5);
	expect(131, "inner", 120, 20);
	expect(140, "outer", 100, 100);
	expect(200, NULL, 0, 0);
}

#define RANDOM_SYMBOLS 400
#define RANDOM_SPACE 4096

/* The symbol with the nearest start whose range covers the address; the random symbols have
 * distinct starts. */
static const struct symbol *plain_search(const struct symbol *symbols, u64 address)
{
	const struct symbol *best = NULL;

	for (int i = 0; i < RANDOM_SYMBOLS; i++) {
		const struct symbol *symbol = &symbols[i];

		if (address >= symbol->start && address - symbol->start < symbol->size &&
		    (!best || symbol->start > best->start))
			best = symbol;
	}
	return best;
}

TEST(random_symbols_agree_with_a_plain_search, setup, teardown)
{
	static struct symbol symbols[RANDOM_SYMBOLS];
	static char names[RANDOM_SYMBOLS][16];

	srandom(7);
	for (int i = 0; i < RANDOM_SYMBOLS; i++) {
		int slot = i * 17 % RANDOM_SYMBOLS;

		snprintf(names[i], sizeof(names[i]), "f%d", i);
		symbols[i] = (struct symbol){.start = slot * 10 + random() % 10,
					     .size = 1 + random() % 40,
					     .limit = RANDOM_SPACE,
					     .name = names[i],
					     .name_bytes = strlen(names[i])};
		assert_int_equal(symbol_table_add(table, &symbols[i]), 0);
	}
	symbol_table_seal(table);
	for (u64 address = 0; address < RANDOM_SPACE + 10; address++) {
		const struct symbol *truth = plain_search(symbols, address);

		expect(address, truth ? truth->name : NULL, truth ? truth->start : 0,
		       truth ? truth->size : 0);
	}
}
