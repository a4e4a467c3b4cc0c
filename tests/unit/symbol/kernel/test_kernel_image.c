/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The running kernel: its range has its code, and its build id is that of its notes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/file/whole_file.h"
#include "symbol/kernel/kallsyms.h"
#include "symbol/kernel/kernel_image.h"
#include "unit_test.h"

static struct kernel_files files;

static int setup(void **state)
{
	(void)state;
	kernel_files_open(&files);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kernel_files_close(&files);
	return 0;
}

struct seen {
	u32 count;
	struct trace_module kernel;
	u64 last_end;
};

static int take(void *arg, const struct trace_module *module)
{
	struct seen *seen = arg;

	if (!seen->count++) {
		assert_string_equal(module->name, "vmlinux");
		seen->kernel = *module;
		return 0;
	}
	assert_true(module->start <= module->end);
	assert_true(module->start >= seen->last_end || !module->start);
	seen->last_end = module->end;
	return 0;
}

static int stop_early(void *arg, const struct trace_module *module)
{
	u32 *calls = arg;

	(void)module;
	++*calls;
	return 42;
}

TEST(kernel_first_then_modules_by_address)
{
	struct seen seen = {};

	assert_int_equal(kernel_image_each_module(&files, take, &seen, NULL), 0);
	assert_true(seen.count >= 1);
}

TEST(a_return_value_stops)
{
	u32 calls = 0;

	assert_int_equal(kernel_image_each_module(&files, stop_early, &calls, NULL), 42);
	assert_int_equal(calls, 1);
}

static int find_schedule(void *arg, const struct kallsyms_line *line)
{
	u64 *address = arg;

	if (line->name_bytes == strlen("schedule") && !memcmp(line->name, "schedule", 8))
		*address = line->address;
	return 0;
}

TEST(the_range_holds_the_kernels_code)
{
	struct seen seen = {};
	u64 schedule = 0;
	size_t bytes;
	char *text;

	if (whole_file_read("/proc/kallsyms", &text, &bytes)) {
		printf("skip: no readable /proc/kallsyms\n");
		skip();
	}
	kallsyms_each(text, bytes, find_schedule, &schedule);
	free(text);
	assert_int_equal(kernel_image_each_module(&files, take, &seen, NULL), 0);
	assert_true(seen.kernel.start <= schedule && schedule <= seen.kernel.end);
	if (schedule)
		assert_true(seen.kernel.start < seen.kernel.end);
}

TEST(addresses_are_shown_if_a_range_is_known)
{
	struct seen seen = {};

	assert_int_equal(kernel_image_each_module(&files, take, &seen, NULL), 0);
	assert_int_equal(are_kernel_addresses_shown(&files), seen.kernel.start != 0);
}

/* No file can be opened. */
TEST(without_the_files_there_is_no_range)
{
	const struct kernel_files none = {-1, -1, -1};
	struct seen seen = {};

	assert_int_equal(kernel_image_each_module(&none, take, &seen, NULL), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.kernel.start | seen.kernel.end, 0);
	assert_false(are_kernel_addresses_shown(&none));
}

/* /proc/iomem shows the range to root; other users search for the range. */
TEST(the_range_is_the_same_without_iomem)
{
	struct kernel_files some = files;
	struct seen seen = {}, searched = {};

	some.iomem = -1;
	assert_int_equal(kernel_image_each_module(&files, take, &seen, NULL), 0);
	assert_int_equal(kernel_image_each_module(&some, take, &searched, NULL), 0);
	assert_int_equal(seen.kernel.start, searched.kernel.start);
	assert_in_range(seen.kernel.end, searched.kernel.end, searched.kernel.end + 4096);
}

TEST(the_build_id_is_in_the_notes)
{
	struct seen seen = {};
	size_t bytes;
	char *notes;

	if (whole_file_read("/sys/kernel/notes", &notes, &bytes)) {
		printf("skip: no readable /sys/kernel/notes\n");
		skip();
	}
	assert_int_equal(kernel_image_each_module(&files, take, &seen, NULL), 0);
	assert_int_equal(seen.kernel.build_id_bytes, 20);
	assert_non_null(memmem(notes, bytes, seen.kernel.build_id, 20));
	free(notes);
}

TEST_GROUP(setup, teardown)
