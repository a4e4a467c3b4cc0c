/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trace/write/frame_addresses.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "stack.h"
#include "unit_test.h"

static int open_writer(void **state)
{
	const struct trace_info info = {.cpus = 1};
	struct trace_writer *writer = NULL;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_int_equal(trace_writer_create_fd(fd, "/dev/null", &info, &writer, NULL), 0);
	*state = writer;
	return 0;
}

static int close_writer(void **state)
{
	struct trace_writer *writer = *state;

	return trace_writer_close(&writer);
}

static void add_stack(struct trace_writer *writer, const u64 *frames, u32 depth)
{
	struct trace_stack stack = {.frames = frames, .depth = depth};
	u32 index;

	assert_int_equal(trace_writer_stack(writer, &stack, &index), 0);
}

TEST(a_file_without_stacks_has_none, open_writer, close_writer)
{
	struct frame_addresses found = {};

	assert_int_equal(frame_addresses_collect(*state, &found), 0);
	assert_int_equal(found.count, 0);
	free(found.items);
}

/* The byte before a return address belongs to the call. Below a leaf the innermost frame is a
 * return address, otherwise a pc. */
TEST(addresses_ascend_and_are_there_once, open_writer, close_writer)
{
	static const u64 first[] = {FRAME_NARROW_TOP | 0x900, FRAME_NARROW_TOP | 0x101,
				    FRAME_USER(3, 0x20), FRAME_USER(3, 0)};
	static const u64 second[] = {FRAME_NARROW_TOP | 0x100, FRAME_NARROW_TOP | 0x901,
				     FRAME_USER(2, 0x21)};
	static const u64 expected[] = {FRAME_USER(2, 0x20),	 FRAME_USER(3, 0x1f),
				       FRAME_NARROW_TOP | 0xff,	 FRAME_NARROW_TOP | 0x100,
				       FRAME_NARROW_TOP | 0x8ff, FRAME_NARROW_TOP | 0x900};
	struct frame_addresses found = {};

	add_stack(*state, first, 4);
	add_stack(*state, second, 3);
	assert_int_equal(frame_addresses_collect(*state, &found), 0);
	assert_int_equal(found.count, sizeof(expected) / sizeof(*expected));
	assert_memory_equal(found.items, expected, sizeof(expected));
	free(found.items);
}
