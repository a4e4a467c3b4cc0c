// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's symbols that are cached, and those that are read again, with lists made by the test.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/symbolizer/kernel_symbols.h"
#include "unit_test.h"

#define LINE(address_, rest_) "ffffffff" address_ " t " rest_ "\n"
#define IMAGE                                                                                      \
	LINE("81000000", "_stext")                                                                 \
	LINE("81000100", "first") LINE("81000200", "second") LINE("81001000", "_etext")
#define OTHER_IMAGE                                                                                \
	LINE("81000000", "_stext")                                                                 \
	LINE("81000100", "other") LINE("81000200", "fourth") LINE("81001000", "_etext")
#define EXT4 LINE("a0000000", "ext4_a\t[ext4]")
#define MODULES "ext4 4096 1 - Live 0xffffffffa0000000\n"
#define OLD_PROGRAM LINE("a0300000", "bpf_prog_1_old\t[bpf]")
#define NEW_PROGRAM LINE("a0300000", "bpf_prog_2_new\t[bpf]")

#define IN_FIRST 0xffffffff81000110ULL
#define IN_EXT4 0xffffffffa0000010ULL
#define IN_PROGRAM 0xffffffffa0300010ULL

static int memory_of(const char *text)
{
	int fd = memfd_create("kernel", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void expect_in(const struct symbol_table *table, u64 address, const char *name)
{
	struct symbol found;

	if (!name) {
		assert_false(symbol_table_find(table, address, &found));
		return;
	}
	assert_true(symbol_table_find(table, address, &found));
	assert_int_equal(found.name_bytes, strlen(name));
	assert_memory_equal(found.name, name, found.name_bytes);
}

/* `name` NULL: the address has no name. */
static void expect(const char *kallsyms, const char *modules, u64 address, const char *name)
{
	const int files[4] = {memory_of(kallsyms), memory_of(modules), -1, -1};
	struct symbol_table *kept, *passing;

	assert_int_equal(symbol_table_create(&kept), 0);
	assert_int_equal(kernel_symbols_load(&address, 1, files, kept, &passing), 0);
	if (kernel_symbols_is_static_code(address))
		expect_in(kept, address, name);
	else if (passing || name)
		expect_in(passing, address, name);
	symbol_table_free(&kept);
	symbol_table_free(&passing);
	close(files[0]);
	close(files[1]);
}

/* The name of IN_FIRST in a process that has not read a list yet, from a list, its modules, and
 * copies of another list. */
static const char *first_name(const char *copied_modules)
{
	const int files[4] = {memory_of(OTHER_IMAGE EXT4), memory_of(MODULES),
			      memory_of(IMAGE EXT4), memory_of(copied_modules)};
	static char name[16];
	int ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		struct symbol_table *kept, *passing;
		struct symbol found = {.name = ""};
		const u64 address = IN_FIRST;

		if (!symbol_table_create(&kept) &&
		    !kernel_symbols_load(&address, 1, files, kept, &passing))
			symbol_table_find(kept, address, &found);
		_exit(write(ends[1], found.name, strlen(found.name) + 1) < 0);
	}
	assert_true(child > 0);
	assert_true(read(ends[0], name, sizeof(name)) > 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	for (u32 i = 0; i < 4; i++)
		close(files[i]);
	close(ends[0]);
	close(ends[1]);
	return name;
}

/* These tests come first, as the process has a list later. */
TEST(a_copy_is_read_instead_of_the_list)
{
	assert_string_equal(first_name(MODULES), "first");
}

TEST(a_copy_of_other_modules_is_left_alone)
{
	assert_string_equal(first_name(MODULES "xfs 4096 1 - Live 0xffffffffa0002000\n"), "other");
}

static int begin(void **state)
{
	(void)state;
	expect("", "other 4096 1 - Live 0xffffffffb0000000\n", IN_FIRST, NULL);
	expect(IMAGE EXT4 OLD_PROGRAM, MODULES, IN_PROGRAM, "bpf_prog_1_old");
	return 0;
}

/* The kernel takes long to list many programs. */
TEST(programs_are_read_only_if_asked_for, begin)
{
	const int files[4] = {memory_of(IMAGE EXT4 OLD_PROGRAM), memory_of(""), -1, -1};
	const u64 addresses[] = {IN_FIRST, IN_PROGRAM};
	struct symbol_table *kept, *passing;

	assert_int_equal(symbol_table_create(&kept), 0);
	assert_int_equal(kernel_symbols_load(addresses, 1, files, kept, &passing), 0);
	assert_null(passing);
	expect_in(kept, IN_FIRST, "first");
	assert_false(symbol_table_touches(kept, IN_PROGRAM, IN_PROGRAM + 1));
	symbol_table_free(&kept);
	assert_int_equal(symbol_table_create(&kept), 0);
	assert_int_equal(kernel_symbols_load(addresses, 2, files, kept, &passing), 0);
	expect_in(passing, IN_PROGRAM, "bpf_prog_1_old");
	symbol_table_free(&kept);
	symbol_table_free(&passing);
	close(files[0]);
	close(files[1]);
}

TEST(the_image_is_read_once, begin)
{
	expect(OTHER_IMAGE EXT4, MODULES, IN_FIRST, "first");
}

TEST(a_program_is_that_of_today, begin)
{
	expect(OTHER_IMAGE EXT4 NEW_PROGRAM, MODULES, IN_PROGRAM, "bpf_prog_2_new");
	expect(OTHER_IMAGE EXT4, MODULES, IN_PROGRAM, NULL);
	expect(OTHER_IMAGE EXT4, MODULES, IN_FIRST, "first");
}

TEST(other_modules_are_read, begin)
{
	expect(OTHER_IMAGE NEW_PROGRAM, "", IN_FIRST, "other");
	expect(OTHER_IMAGE NEW_PROGRAM, "", IN_EXT4, NULL);
}

/* The static line has moved. */
TEST(another_list_is_read, begin)
{
	expect(LINE("81000000", "more") OTHER_IMAGE EXT4 NEW_PROGRAM, MODULES, IN_PROGRAM,
	       "bpf_prog_2_new");
	expect(IMAGE EXT4, MODULES, IN_FIRST, "other");
}
