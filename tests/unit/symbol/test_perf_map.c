/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/perf_map.h"

#define BASE 0x7f0000000000ULL

static const struct perf_map_range everything = {.bytes = UINT64_MAX};

static struct symbol_table *parse_in(const char *text, const struct perf_map_range *range)
{
	struct symbol_table *table = NULL;

	assert_int_equal(symbol_table_create(&table), 0);
	assert_int_equal(perf_map_parse(text, strlen(text), range, table), 0);
	return table;
}

static void assert_name(const struct symbol_table *table, u64 address, u64 start, const char *name)
{
	struct symbol symbol;

	assert_true(symbol_table_find(table, address, &symbol));
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.start, start);
}

static void assert_nameless(const struct symbol_table *table, u64 address)
{
	struct symbol symbol;

	assert_false(symbol_table_find(table, address, &symbol));
}

static void test_numbers_and_names(void **state)
{
	struct symbol_table *table = parse_in("1000 10 plain\n"
					      "0x1010 0x10 with prefix\n"
					      "0X1020 1F LazyCompile:~f file.js:1 <a\xc3\xa9>\r\n"
					      "  1040\t8  two  blanks  \n"
					      "ABCDEF0123456789 1 high",
					      &everything);

	(void)state;
	assert_name(table, 0x1000, 0x1000, "plain");
	assert_name(table, 0x101f, 0x1010, "with prefix");
	assert_name(table, 0x103e, 0x1020, "LazyCompile:~f file.js:1 <a\xc3\xa9>");
	assert_nameless(table, 0x103f);
	assert_name(table, 0x1040, 0x1040, "two  blanks");
	assert_name(table, 0xabcdef0123456789, 0xabcdef0123456789, "high");
	symbol_table_free(&table);
}

static void test_lines_without_sense(void **state)
{
	static const char *const lines[] = {
		"",
		"\n\n",
		"1000",
		"1000 10",
		"1000 10 ",
		"1000 0 none",
		"x 10 none",
		"0x 10 none",
		"1000 0x none",
		"1000 10none",
		"-1 10 none",
		"1000,10 none",
		"g 10 none",
		"10000000000000000 10 none",
		"ffffffffffffffff 2 wraps",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct symbol_table *table = parse_in(lines[i], &everything);
		struct symbol symbol;

		assert_false(symbol_table_at(table, 0, &symbol));
		symbol_table_free(&table);
	}
}

static void test_a_line_without_sense_spoils_no_other(void **state)
{
	struct symbol_table *table = parse_in("1000 10 one\n1008 junk\n2000 10 two\n", &everything);

	(void)state;
	assert_name(table, 0x1008, 0x1000, "one");
	assert_name(table, 0x2000, 0x2000, "two");
	symbol_table_free(&table);
}

/* What was overwritten in part has no name for the rest, either. */
static void test_later_entries_win(void **state)
{
	struct symbol_table *table = parse_in("1000 100 whole\n"
					      "2000 100 head\n"
					      "3000 100 inside\n"
					      "4000 1000 around\n"
					      "5000 100 beside\n"
					      "1000 100 again\n"
					      "20f0 20 tail\n"
					      "2ff0 200 larger\n"
					      "4800 10 smaller\n"
					      "5100 100 neighbour\n",
					      &everything);

	(void)state;
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

/* The one that killed another may be dead itself: the first stays dead. */
static void test_overwritten_by_the_overwritten(void **state)
{
	struct symbol_table *table =
		parse_in("1000 20 first\n1010 20 second\n1028 20 third\n", &everything);

	(void)state;
	assert_nameless(table, 0x1000);
	assert_nameless(table, 0x1020);
	assert_name(table, 0x1028, 0x1028, "third");
	symbol_table_free(&table);
}

static void test_only_the_range(void **state)
{
	const struct perf_map_range range = {.base = BASE, .bytes = 1ULL << 40};
	struct symbol_table *table = parse_in("7effffffffff 2 across\n"
					      "7f0000001000 10 inside\n"
					      "7fffffffffff 1 last\n"
					      "800000000000 1 behind\n"
					      "1000 10 elsewhere\n",
					      &range);

	(void)state;
	assert_nameless(table, 0);
	assert_name(table, 0x1008, 0x1000, "inside");
	assert_name(table, (1ULL << 40) - 1, (1ULL << 40) - 1, "last");
	assert_nameless(table, 1ULL << 40);
	symbol_table_free(&table);
}

/* Every other one is overwritten, by one that covers it and more. */
static void test_a_long_map(void **state)
{
	enum { LINES = 200000 };
	struct symbol_table *table;
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(out);
	for (u64 i = 0; i < LINES; i++)
		fprintf(out, "%llx 10 function %llu\n", (unsigned long long)(i * 16),
			(unsigned long long)i);
	for (u64 i = 0; i < LINES; i += 4)
		fprintf(out, "%llx 20 again %llu\n", (unsigned long long)(i * 16),
			(unsigned long long)i);
	fclose(out);
	table = parse_in(text, &everything);
	assert_name(table, 40 * 16 + 0x1f, 40 * 16, "again 40");
	assert_name(table, 42 * 16, 42 * 16, "function 42");
	assert_name(table, (LINES - 1) * 16, (LINES - 1) * 16, "function 199999");
	symbol_table_free(&table);
	free(text);
}

/* The last ones are the newest. */
static void test_more_than_is_kept(void **state)
{
	struct symbol_table *table;
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);
	struct symbol symbol;

	(void)state;
	assert_non_null(out);
	for (u32 i = 0; i < PERF_MAP_ENTRIES_MAX + 2; i++)
		fprintf(out, "%x 1 f\n", 0x1000 + i);
	fclose(out);
	table = parse_in(text, &everything);
	assert_nameless(table, 0x1001);
	assert_name(table, 0x1002, 0x1002, "f");
	assert_true(symbol_table_at(table, PERF_MAP_ENTRIES_MAX - 1, &symbol));
	assert_int_equal(symbol.start, 0x1000 + PERF_MAP_ENTRIES_MAX + 1);
	symbol_table_free(&table);
	free(text);
}

static void test_an_open_file(void **state)
{
	struct symbol_table *table = NULL;
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	fputs("1000 10 named\n", file);
	fflush(file);
	assert_int_equal(symbol_table_create(&table), 0);
	assert_int_equal(perf_map_read_open(fileno(file), &everything, table), 0);
	assert_name(table, 0x1000, 0x1000, "named");
	symbol_table_free(&table);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_and_names),
		cmocka_unit_test(test_lines_without_sense),
		cmocka_unit_test(test_a_line_without_sense_spoils_no_other),
		cmocka_unit_test(test_later_entries_win),
		cmocka_unit_test(test_overwritten_by_the_overwritten),
		cmocka_unit_test(test_only_the_range),
		cmocka_unit_test(test_a_long_map),
		cmocka_unit_test(test_more_than_is_kept),
		cmocka_unit_test(test_an_open_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
