/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/modules: order, modules that end where the next one begins, invalid lines. */
#include <stdint.h>
#include <string.h>

#include "symbol/kernel/module_list.h"
#include "unit_test.h"

static const char text[] = "second 16384 2 first, Live 0xffffffffc0002000 (OE)\n"
			   "first 16384 0 - Live 0xffffffffc0000000\n"
			   "no_address 4096 0 -\n"
			   "\n"
			   "hidden 4096 0 - Live 0x0000000000000000\n"
			   "huge 18446744073709551615 0 - Live 0xffffffffc0100000";

TEST(modules_are_sorted_and_do_not_overlap)
{
	struct module_list list;

	assert_int_equal(module_list_parse(text, strlen(text), &list), 0);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.modules[0].name, "hidden");
	assert_int_equal(list.modules[0].end, 0);
	assert_string_equal(list.modules[1].name, "first");
	assert_int_equal(list.modules[1].start, 0xffffffffc0000000);
	assert_int_equal(list.modules[1].end, 0xffffffffc0002000);
	assert_string_equal(list.modules[2].name, "second");
	assert_int_equal(list.modules[2].end, 0xffffffffc0006000);
	assert_int_equal(list.modules[3].end, list.modules[3].start);
	module_list_clear(&list);
	assert_int_equal(list.count, 0);
}

TEST(found_by_name_only_if_whole)
{
	struct module_list list;

	assert_int_equal(module_list_parse(text, strlen(text), &list), 0);
	assert_string_equal(module_list_find(&list, "first]", 5)->name, "first");
	assert_null(module_list_find(&list, "first", 4));
	assert_null(module_list_find(&list, "firsts", 6));
	module_list_clear(&list);
}

TEST(overlong_lines_are_left_out)
{
	static char long_text[20000];
	struct module_list list;

	memset(long_text, 'x', sizeof(long_text));
	strcpy(long_text + 10000, "\nm 1 0 - Live 0xffffffffc0000000\n");
	assert_int_equal(module_list_parse(long_text, strlen(long_text), &list), 0);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.modules[0].name, "m");
	module_list_clear(&list);
}
