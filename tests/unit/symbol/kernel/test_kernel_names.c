/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names from a kernel image that is linked for this test (its path is the argument), at its linked
 * address and moved. */
#include "symbol/kernel/kernel_names.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "unit_test.h"

#define LINKED 0xffffffff81000000ULL
#define MOVED 0xffffffffa7400000ULL
#define SCHEDULE 16
#define DO_EXIT 64

static const char *image;

static void check(const struct kernel_names *names, u64 address, const char *name, u64 start)
{
	struct symbol symbol;

	assert_true(kernel_names_find(names, address, &symbol));
	assert_string_equal(symbol.name, name);
	assert_true(symbol.start == start);
}

static void check_image(u64 stext, u64 base)
{
	struct kernel_names *names;
	struct symbol symbol;

	assert_int_equal(kernel_names_from_vmlinux(image, stext, &names, NULL), 0);
	assert_true(kernel_names_stext(names) == base);
	check(names, base + SCHEDULE + 1, "schedule", base + SCHEDULE);
	check(names, base + SCHEDULE + 32, "schedule", base + SCHEDULE);
	assert_false(kernel_names_find(names, base + SCHEDULE + 33, &symbol));
	check(names, base + DO_EXIT + 10, "do_exit", base + DO_EXIT);
	assert_false(kernel_names_find(names, base + 0x100000, &symbol));
	kernel_names_free(&names);
	assert_null(names);
}

TEST(as_linked)
{
	check_image(0, LINKED);
}

TEST(moved)
{
	struct kernel_names *names;
	struct symbol symbol;

	check_image(MOVED, MOVED);
	assert_int_equal(kernel_names_from_vmlinux(image, MOVED, &names, NULL), 0);
	assert_false(kernel_names_find(names, LINKED + SCHEDULE + 1, &symbol));
	kernel_names_free(&names);
}

TEST(not_a_kernel)
{
	struct kernel_names *names = NULL;

	assert_int_equal(kernel_names_from_vmlinux("/dev/null", 0, &names, NULL), -ENOEXEC);
	assert_int_equal(kernel_names_from_vmlinux("/proc/self/exe", 0, &names, NULL), -EBADMSG);
	assert_int_equal(kernel_names_from_vmlinux("/nowhere", 0, &names, NULL), -ENOENT);
	assert_int_equal(kernel_names_from_kallsyms("/dev/null", &names, NULL), -EBADMSG);
	assert_int_equal(kernel_names_from_kallsyms("/nowhere", &names, NULL), -ENOENT);
	assert_null(names);
}

int main(int argc, char **argv)
{
	image = argc > 1 ? argv[1] : "";
	return unit_tests_run();
}
