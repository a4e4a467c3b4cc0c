/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stack_pack.h"

#include <string.h>

#include "unit_test.h"

static struct stack stack;

static void pack_frames_as_stack(const u64 *frames, u32 depth, u32 flags)
{
	memset(&stack, 0xa5, sizeof(stack));
	memcpy(stack.word, frames, 8 * depth);
	stack.depth = depth;
	stack.flags = flags;
}

static void assert_unpacks(const u64 *frames, u32 depth)
{
	for (u32 i = 0; i < depth; i++)
		assert_int_equal(stack_frame(stack.word, stack.flags, i), frames[i]);
}

TEST(kernel_frames_take_half_a_word)
{
	static const u64 frames[] = {0xffffffff80000000, 0xffffffffffffffff, 0xffffffffc0123456};

	pack_frames_as_stack(frames, 3, STACK_TRUNCATED);
	assert_int_equal(stack_pack(&stack), 2);
	assert_int_equal(stack.words, 2);
	assert_int_equal(stack.flags, STACK_TRUNCATED | STACK_NARROW);
	assert_int_equal(stack.word[0], 0xffffffff80000000);
	assert_int_equal(stack.word[1], 0xc0123456); /* the odd half is zero */
	assert_unpacks(frames, 3);
}

TEST(one_wide_frame_makes_all_wide)
{
	static const u64 frames[] = {0xffffffff81000000, 0xffffffff81000001, 0xffffffff7fffffff,
				     0xffffffff81000003};

	for (u32 depth = 3; depth <= 4; depth++) {
		pack_frames_as_stack(frames, depth, 0);
		assert_int_equal(stack_pack(&stack), depth);
		assert_int_equal(stack.flags, 0);
		assert_unpacks(frames, depth);
	}
}

TEST(user_frames_stay_wide)
{
	const u64 frames[] = {FRAME_USER(1, 0xffffffffff), FRAME_USER(FRAME_MAPPING_MAX, 0)};

	pack_frames_as_stack(frames, 2, STACK_USER);
	assert_int_equal(stack_pack(&stack), 2);
	assert_int_equal(stack.flags, STACK_USER);
	assert_unpacks(frames, 2);
}

TEST(the_deepest_stacks_pack)
{
	u64 frames[STACK_USER_DEPTH_MAX];

	for (u32 i = 0; i < STACK_USER_DEPTH_MAX; i++)
		frames[i] = 0xffffffff80000000 + i;
	for (u32 depth = STACK_USER_DEPTH_MAX - 1; depth <= STACK_USER_DEPTH_MAX; depth++) {
		pack_frames_as_stack(frames, depth, 0);
		assert_int_equal(stack_pack(&stack), 256 - (depth % 2 == 0));
		assert_unpacks(frames, depth);
	}
}

TEST(a_stale_narrow_flag_is_decided_anew)
{
	static const u64 frames[] = {1, 2};

	pack_frames_as_stack(frames, 2, STACK_NARROW);
	assert_int_equal(stack_pack(&stack), 2);
	assert_int_equal(stack.flags, 0);
}

TEST(no_frames_or_too_many_give_no_words)
{
	pack_frames_as_stack(&(u64){0}, 0, 0);
	assert_int_equal(stack_pack(&stack), 0);
	assert_int_equal(stack.words, 0);
	stack.depth = STACK_USER_DEPTH_MAX + 1;
	assert_int_equal(stack_pack(&stack), 0);
	stack.depth = 0xffff;
	assert_int_equal(stack_pack(&stack), 0);
}
