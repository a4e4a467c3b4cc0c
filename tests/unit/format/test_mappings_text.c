/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader of `mappings` files. The golden tests of dump check that the reader reads what the
 * engine writes. */
#include "format/mappings_text.h"

#include <errno.h>
#include <string.h>

#include "unit_test.h"

static int parse(const char *text, struct mappings **mappings, struct stackmap_error *error)
{
	FILE *from = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(from);
	err = mappings_read(from, mappings, error);
	fclose(from);
	return err;
}

TEST(finds_paths)
{
	const struct trace_module *kernel;
	struct mappings *mappings;

	assert_int_equal(parse("kernel ext4 0xffffffffc0000000-0xffffffffc0010000 -\n"
			       "kernel vmlinux 0xffffffff81000000-0xffffffff82000000 aabb\n"
			       "9 - /tmp/with space\n"
			       "2 0011 /bin/sh\n",
			       &mappings, NULL),
			 0);
	assert_true(mappings_kernel_start(mappings) == 0xffffffff81000000);
	assert_string_equal(mappings_path(mappings, 9), "/tmp/with space");
	assert_string_equal(mappings_path(mappings, 2), "/bin/sh");
	assert_null(mappings_path(mappings, 3));
	assert_int_equal(mappings_find(mappings, 9)->build_id_bytes, 0);
	assert_int_equal(mappings_find(mappings, 2)->build_id_bytes, 2);
	assert_int_equal(mappings_find(mappings, 2)->build_id[1], 0x11);
	assert_int_equal(mappings_kernel_modules(mappings, &kernel), 2);
	assert_string_equal(kernel[0].name, "ext4");
	assert_true(kernel[1].end == 0xffffffff82000000);
	assert_int_equal(kernel[1].build_id[0], 0xaa);
	mappings_free(&mappings);
	assert_null(mappings);
}

TEST(escapes)
{
	struct mappings *mappings;

	assert_int_equal(parse("1 - /a\\012\\134b\n"
			       "2 - /\\303\\251\\ 12\\12\\8\\\n",
			       &mappings, NULL),
			 0);
	assert_string_equal(mappings_path(mappings, 1), "/a\n\\b");
	assert_string_equal(mappings_path(mappings, 2), "/\xc3\xa9\\ 12\\12\\8\\");
	mappings_free(&mappings);
}

TEST(no_lines_of_a_kind)
{
	struct mappings *mappings;

	assert_int_equal(parse("1 ab /a", &mappings, NULL), 0);
	assert_int_equal(mappings_kernel_start(mappings), 0);
	assert_string_equal(mappings_path(mappings, 1), "/a");
	mappings_free(&mappings);
	assert_int_equal(parse("kernel vmlinux 0x1-0x2 -\n", &mappings, NULL), 0);
	assert_null(mappings_path(mappings, 1));
	mappings_free(&mappings);
}

TEST(wrong_lines)
{
	static const char *const lines[] = {
		"\n",
		"x\n",
		"1\n",
		"1 ab\n",
		"1 ab \n",
		"1 xyz /a\n",
		"-1 ab /a\n",
		"9999999 - /a\n",
		"kernel a 1 -\n",
		"kernel a 0x1 -\n",
	};
	struct mappings *mappings = NULL;
	struct stackmap_error error;
	char text[64];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text), "1 ab /a\n%s", lines[i]);
		assert_int_equal(parse(text, &mappings, &error), -EBADMSG);
		assert_int_equal(error.offset, 8);
		assert_null(mappings);
	}
}
