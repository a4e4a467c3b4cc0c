/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames that are kept of stacks of every depth around the limit, and their order. */
#include "deep_stack.h"

#include "unit_test.h"

#define FRAME(number) FRAME_USER(7, 1000 + (number))

static struct deep_stack stack;

static u32 walk_deep_stack(u32 depth)
{
	for (u32 i = 0; i < depth; i++)
		stack.frame[deep_stack_slot(i)] = FRAME(i);
	return (u32)deep_stack_order_frames(&stack, depth);
}

TEST(a_stack_that_fits_is_kept_whole)
{
	assert_int_equal(walk_deep_stack(0), 0);
	for (u32 depth = 1; depth <= STACK_USER_DEPTH_MAX; depth += 51) {
		assert_int_equal(walk_deep_stack(depth), depth);
		for (u32 i = 0; i < depth; i++)
			assert_int_equal(stack.frame[i], FRAME(i));
	}
}

static void check_deep(u32 depth)
{
	u32 omitted = depth - 256 - 254;

	assert_int_equal(walk_deep_stack(depth), 511);
	for (u32 i = 0; i < 256; i++)
		assert_int_equal(stack.frame[i], FRAME(i));
	assert_true(FRAME_IS_OMITTED(stack.frame[256]));
	assert_int_equal(FRAME_OFFSET(stack.frame[256]), omitted);
	for (u32 i = 257; i < 511; i++)
		assert_int_equal(stack.frame[i], FRAME(i + omitted - 1));
}

TEST(a_deeper_stack_keeps_both_ends)
{
	for (u32 depth = 512; depth < 1200; depth++)
		check_deep(depth);
	check_deep(STACK_WALK_DEPTH_MAX);
}

TEST(code_frames_are_not_taken_for_omitted)
{
	assert_false(FRAME_IS_OMITTED(0));
	assert_false(FRAME_IS_OMITTED(FRAME(0)));
	assert_false(FRAME_IS_OMITTED(FRAME_GUESSED | FRAME(0)));
	assert_false(FRAME_IS_OMITTED(0xffffffff81000000ULL));
}
