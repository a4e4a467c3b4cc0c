/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "named_table.h"
#include "symbol/jit/perf_map.h"
#include "unit_test.h"

static struct symbol_table *parse(const char *text)
{
	struct generated_code code = {};

	assert_int_equal(perf_map_parse(text, strlen(text), &code), 0);
	return table_of(&code);
}

TEST(numbers_and_names)
{
	struct symbol_table *table = parse("1000 10 plain\n"
					   "0x1010 0x10 with prefix\n"
					   "0X1020 1F LazyCompile:~f file.js:1 <a\xc3\xa9>\r\n"
					   "  1040\t8  two  blanks  \n"
					   "ABCDEF0123456789 1 high");

	assert_name(table, 0x1000, 0x1000, "plain");
	assert_name(table, 0x101f, 0x1010, "with prefix");
	assert_name(table, 0x103e, 0x1020, "LazyCompile:~f file.js:1 <a\xc3\xa9>");
	assert_nameless(table, 0x103f);
	assert_name(table, 0x1040, 0x1040, "two  blanks");
	assert_name(table, 0xabcdef0123456789, 0xabcdef0123456789, "high");
	symbol_table_free(&table);
}

TEST(lines_without_sense)
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

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct symbol_table *table = parse(lines[i]);
		struct symbol symbol;

		assert_false(symbol_table_at_index(table, 0, &symbol));
		symbol_table_free(&table);
	}
}

TEST(a_line_without_sense_spoils_no_other)
{
	struct symbol_table *table = parse("1000 10 one\n1008 junk\n2000 10 two\n");

	assert_name(table, 0x1008, 0x1000, "one");
	assert_name(table, 0x2000, 0x2000, "two");
	symbol_table_free(&table);
}

/* The last line is the newest. */
TEST(later_lines_win)
{
	struct symbol_table *table = parse("1000 100 old\n1080 100 new\n");

	assert_nameless(table, 0x1000);
	assert_name(table, 0x1080, 0x1080, "new");
	symbol_table_free(&table);
}

/* The last lines are the newest. */
static void assert_last_lines_count(const char *end)
{
	struct symbol_table *table;
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);
	struct symbol symbol;

	assert_non_null(out);
	for (u32 i = 0; i < PERF_MAP_LINES_MAX + 2; i++)
		fprintf(out, "%s%x 1 f", i ? "\n" : "", 0x1000 + i);
	fputs(end, out);
	fclose(out);
	table = parse(text);
	assert_nameless(table, 0x1001);
	assert_name(table, 0x1002, 0x1002, "f");
	assert_true(symbol_table_at_index(table, PERF_MAP_LINES_MAX - 1, &symbol));
	assert_int_equal(symbol.start, 0x1000 + PERF_MAP_LINES_MAX + 1);
	symbol_table_free(&table);
	free(text);
}

TEST(more_than_is_read)
{
	assert_last_lines_count("");
	assert_last_lines_count("\n");
}

TEST(an_open_file)
{
	struct generated_code code = {};
	struct symbol_table *table;
	FILE *file = tmpfile();

	assert_non_null(file);
	fputs("1000 10 named\n", file);
	fflush(file);
	assert_int_equal(perf_map_read_open(fileno(file), &code), 0);
	table = table_of(&code);
	assert_name(table, 0x1000, 0x1000, "named");
	symbol_table_free(&table);
	fclose(file);
}
