/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/csv.h"

#include <stdint.h>
#include <stdlib.h>

#include "unit_test.h"

static void check(const char *text, const char *field)
{
	char *written;
	size_t bytes;
	FILE *stream = open_memstream(&written, &bytes);

	csv_put("", text, stream);
	fclose(stream);
	assert_string_equal(written, field);
	free(written);
}

TEST(lines)
{
	char line[16] = "";
	FILE *stream = fmemopen(line, sizeof(line), "w");

	csv_put("", "a", stream);
	csv_put(",", "b,c", stream);
	csv_put(",", "", stream);
	fclose(stream);
	assert_string_equal(line, "a,\"b,c\",");
}

TEST(fields)
{
	check("", "");
	check("main", "main");
	check("foo::bar(int)", "foo::bar(int)");
	check("map<int, long>", "\"map<int, long>\"");
	check("operator\"\"_s", "\"operator\"\"\"\"_s\"");
	check(" padded", "\" padded\"");
	check("two\nlines\033[31m", "two?lines?[31m");
	check("\xc3\xa9,", "\"\xc3\xa9,\"");
}

/* Without its first `'`, a cell is the name. */
TEST(formulas)
{
	check("=cmd()", "'=cmd()");
	check("+1", "'+1");
	check("-bash", "'-bash");
	check("@SUM(1)", "'@SUM(1)");
	check("'quoted", "''quoted");
	check("\uff1d1", "'\uff1d1");
	check(" =1", "\"' =1\"");
	check("=a,b", "\"'=a,b\"");
	check("main;=1;-b;a-b;", "main;'=1;'-b;a-b;");
	check("a=b", "a=b");
	check("\t=1", "?=1");
}
