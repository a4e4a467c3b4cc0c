/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cache has exactly the symbols that were answered. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "symbol/symbolizer/symbol_cache.h"
#include "unit_test.h"

#define FILE_NUMBER 5

static struct symbol_cache cache;
static char names[256]; /* names that a look-up found, each with a blank */

static int begin(void **state)
{
	(void)state;
	cache.most = 1 << 20;
	return 0;
}

static int end(void **state)
{
	(void)state;
	symbol_cache_free(&cache);
	return 0;
}

static int append_name_of_found_symbol(void *arg, const struct trace_symbol *symbol)
{
	(void)arg;
	assert_int_equal(symbol->mapping, FILE_NUMBER);
	strcat(names, symbol->name);
	strcat(names, " ");
	return 0;
}

/* `left`: the number of unknown addresses; `first`: the first of them. */
static void expect(u64 *addresses, u32 count, const char *known, u32 left, u64 first)
{
	names[0] = 0;
	assert_int_equal(symbol_cache_find(&cache, FILE_NUMBER, addresses, &count,
					   append_name_of_found_symbol, NULL),
			 0);
	assert_string_equal(names, known);
	assert_int_equal(count, left);
	if (left)
		assert_int_equal(addresses[0], first);
}

static void expect_one(u64 address, const char *known, u32 left)
{
	expect(&address, 1, known, left, address);
}

static void add(const char *name, u64 start, u64 size, bool is_undivided)
{
	const struct trace_symbol symbol = {.start = start, .size = size, .name = name};

	assert_int_equal(symbol_cache_add(&cache, &symbol, is_undivided), 0);
}

static void add_answer_for_addresses(const u64 *addresses, u32 count)
{
	assert_int_equal(symbol_cache_add_answered_ranges(&cache, FILE_NUMBER, addresses, count),
			 0);
}

TEST(a_function_is_known_as_a_whole, begin, end)
{
	const u64 asked[] = {0x105};
	u64 addresses[] = {0xff, 0x100, 0x10f, 0x110};

	add("whole", 0x100, 16, true);
	add_answer_for_addresses(asked, 1);
	expect(addresses, 4, "whole ", 2, 0xff);
	assert_int_equal(addresses[1], 0x110);
}

/* Around 0x110 there may be another symbol that was never requested. */
TEST(around_others_only_the_address_is_known, begin, end)
{
	const u64 asked[] = {0x101, 0x125};

	add("outer", 0x100, 0x40, false);
	add("inner", 0x120, 8, true);
	add_answer_for_addresses(asked, 2);
	expect_one(0x101, "outer ", 0);
	expect_one(0x102, "", 1);
	expect_one(0x110, "", 1);
	expect_one(0x126, "inner ", 0);
}

/* Behind the inner symbol the outer one goes on. */
TEST(an_address_is_of_the_nearest_that_covers_it, begin, end)
{
	const u64 asked[] = {0x101, 0x125, 0x130};

	add("outer", 0x100, 0x40, false);
	add("inner", 0x120, 8, true);
	add_answer_for_addresses(asked, 3);
	expect_one(0x130, "outer ", 0);
}

TEST(the_absence_of_a_symbol_is_cached, begin, end)
{
	const u64 asked[] = {0x101, 0x300};

	add("whole", 0x100, 16, true);
	add_answer_for_addresses(asked, 2);
	expect_one(0x300, "", 0);
	expect_one(0x301, "", 1);
}

TEST(a_file_without_symbols_is_asked_again, begin, end)
{
	const u64 asked[] = {0x101};

	add_answer_for_addresses(asked, 1);
	expect_one(0x101, "", 1);
}

TEST(a_dropped_answer_is_not_known, begin, end)
{
	const u64 asked[] = {0x101};

	add("dropped", 0x100, 16, true);
	symbol_cache_drop(&cache);
	add("other", 0x200, 16, true);
	add_answer_for_addresses(asked, 1);
	expect_one(0x105, "", 1);
	expect_one(0x205, "other ", 0);
}

TEST(one_function_answered_twice_is_one, begin, end)
{
	const u64 asked[] = {0x101};

	add("whole", 0x100, 16, true);
	add_answer_for_addresses(asked, 1);
	add("whole", 0x100, 16, true);
	add_answer_for_addresses(asked, 1);
	assert_int_equal(cache.files[FILE_NUMBER].count, 1);
	expect_one(0x102, "whole ", 0);
}

TEST(a_full_cache_is_emptied, begin, end)
{
	const u64 asked[] = {0x101};
	char name[16];

	cache.most = 4096;
	add("first", 0x100, 16, true);
	add_answer_for_addresses(asked, 1);
	for (u64 i = 1; i < 100; i++) {
		snprintf(name, sizeof(name), "f%d", (int)i);
		add(name, i << 12, 16, true);
		add_answer_for_addresses(asked, 1);
	}
	expect_one(0x102, "", 1);
	expect_one(99 << 12, "f99 ", 0);
	assert_true(cache.range_count < 99);
}
