/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel functions by -e k: and kr:, with functions that every kernel has. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/source/source.h"
#include "unit_test.h"

static struct source_list list;
static struct stackmap_error error;

static int clear(void **state)
{
	(void)state;
	source_list_clear(&list);
	return 0;
}

TEST(a_function_is_its_name, NULL, clear)
{
	assert_int_equal(source_list_add(&list, "k:vfs_read,kr:vfs_read", 0, &error), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.sources[0].type, SOURCE_KERNEL);
	assert_string_equal(list.sources[0].name, "k:vfs_read");
	assert_string_equal(list.sources[0].target, "vfs_read");
	assert_false(list.sources[0].on_return);
	assert_string_equal(list.sources[1].name, "kr:vfs_read");
	assert_true(list.sources[1].on_return);
}

TEST(a_glob_takes_each_function_once, NULL, clear)
{
	assert_int_equal(source_list_add(&list, "k:vfs_read*", 0, &error), 0);
	for (u32 i = 0; i < list.count; i++)
		for (u32 j = 0; j < i; j++)
			assert_string_not_equal(list.sources[i].name, list.sources[j].name);
}

TEST(data_is_no_function, NULL, clear)
{
	assert_int_equal(source_list_add(&list, "k:__start_rodata", 0, &error), -ENOENT);
	assert_int_equal(source_list_add(&list, "k:__pfx_vfs_read", 0, &error), -ENOENT);
}

TEST(the_nearest_function_is_named, NULL, clear)
{
	assert_int_equal(source_list_add(&list, "kr:vfs_raed", 0, &error), -ENOENT);
	assert_string_equal(error.message,
			    "-e kr:vfs_raed: no such function; did you mean kr:vfs_read?");
}

int main(void)
{
	if (access("/proc/kallsyms", R_OK)) {
		printf("skip: no /proc/kallsyms\n");
		return 77;
	}
	return unit_tests_run();
}
