/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbol/debuginfo/debian_package.h"
#include "unit_test.h"

static char folder[] = "/tmp/stackmap-packages-XXXXXX";
static const char *const files[][2] = {
	{"mawk.list", "/.\n/usr\n/usr/bin\n/usr/bin/mawk\n"},
	{"libc6:amd64.list", "/lib\n/lib/x86_64-linux-gnu\n/lib/x86_64-linux-gnu/libc.so.6\n"},
	{"mawk.md5sums", "/usr/bin/other\n"},
};

static void write_lists(void)
{
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *file = fopen(files[i][0], "w");

		assert_non_null(file);
		fputs(files[i][1], file);
		assert_int_equal(fclose(file), 0);
	}
}

static void expect(const char *path, const char *package)
{
	char name[DEBIAN_PACKAGE_BYTES];

	assert_int_equal(debian_package_of(folder, path, name), package != NULL);
	if (package)
		assert_string_equal(name, package);
}

TEST(a_path_is_a_whole_line)
{
	expect("/usr/bin/mawk", "mawk");
	expect("/usr/bin/maw", NULL);
	expect("/usr/bin/mawk2", NULL);
	expect("/bin/mawk", NULL);
	expect("mawk", NULL);
	expect("[vdso]", NULL);
	expect("/usr\n/usr/bin", NULL);
}

TEST(of_a_merged_usr)
{
	expect("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6");
	expect("/lib/x86_64-linux-gnu/libc.so.6", "libc6");
}

TEST(other_files_are_no_lists)
{
	char name[DEBIAN_PACKAGE_BYTES];

	expect("/usr/bin/other", NULL);
	assert_false(debian_package_of("/nonexistent", "/usr/bin/mawk", name));
}

static int setup(void **state)
{
	(void)state;
	write_lists();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i][0]);
	return rmdir(folder);
}

TEST_GROUP(setup, teardown)
