/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Segments that are derived from the functions of a recording, which may be of any user. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/name/frame_names.h"
#include "trace/write/writer.h"
#include "unit_test.h"

static char recording[] = "/tmp/stackmap-layout-XXXXXX";

static void find(const struct trace_symbol *symbols, u32 count, struct elf_segments *layout)
{
	const struct trace_info info = {
		.hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
	struct trace_writer *writer;
	struct trace_reader *reader;

	unlink(recording);
	assert_int_equal(trace_writer_create(recording, &info, &writer, NULL), 0);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(trace_writer_symbol(writer, &symbols[i]), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(trace_reader_open(recording, &reader, NULL), 0);
	code_layout_find(reader, 3, layout);
	trace_reader_close(&reader);
}

TEST(functions_with_one_slide_are_a_segment)
{
	static const struct trace_symbol symbols[] = {
		{2, 0x100, 0x10, "of another file", 0x9100},
		{3, 0x1000, 0x100, "outer", 0x401000},
		{3, 0x1010, 0x10, "inner", 0x401010},
		{3, 0x1200, 0x20, "", 0x401200},
		{3, 0x1300, 0x10, "unplaced", 0},
		{3, 0x2000, 0x40, "moved", 0x403000},
		{4, 0x100, 0x10, "of another file", 0x9100},
	};
	struct elf_segments layout;

	find(symbols, 7, &layout);
	assert_int_equal(layout.count, 2);
	assert_int_equal(layout.segment[0].offset, 0x1000);
	assert_int_equal(layout.segment[0].address, 0x401000);
	assert_int_equal(layout.segment[0].bytes, 0x220);
	assert_int_equal(layout.segment[1].offset, 0x2000);
	assert_int_equal(layout.segment[1].address, 0x403000);
	assert_int_equal(layout.segment[1].bytes, 0x40);
	find(symbols, 1, &layout);
	assert_int_equal(layout.count, 0);
}

TEST(ranges_that_wrap_are_left_out)
{
	static const struct trace_symbol symbols[] = {
		{3, UINT64_MAX - 8, 0x10, "by its offset", 0x1000},
		{3, 0x1000, 0x10, "by its address", UINT64_MAX - 8},
	};
	struct elf_segments layout;

	find(symbols, 2, &layout);
	assert_int_equal(layout.count, 0);
}

TEST(the_number_of_segments_is_limited)
{
	struct trace_symbol symbols[ELF_SEGMENTS_MAX + 5];
	struct elf_segments layout;

	for (u32 i = 0; i < ELF_SEGMENTS_MAX + 5; i++)
		symbols[i] = (struct trace_symbol){3, 0x100 * (i + 1), 8, "", 0x200 * (i + 1)};
	find(symbols, ELF_SEGMENTS_MAX + 5, &layout);
	assert_int_equal(layout.count, ELF_SEGMENTS_MAX);
}

static int setup(void **state)
{
	(void)state;
	return close(mkstemp(recording));
}

static int teardown(void **state)
{
	(void)state;
	return unlink(recording);
}

TEST_GROUP(setup, teardown)
