// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* KUnit tests of packed stacks and their hash. */
#include <kunit/test.h>

#include "stack_hash.h"
#include "stack_pack.h"

#define KERNEL_FRAME(n) (STACKID_FRAME_NARROW_TOP + 0x1000000 + 16 * (n))

static struct stackid_stack *stack_of(struct kunit *test, u64 first, u32 depth)
{
	struct stackid_stack *stack;

	stack = kunit_kzalloc(test, sizeof(*stack), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stack);
	stack->depth = depth;
	for (u32 i = 0; i < depth; i++)
		stack->word[i] = first + 16 * i;
	stackid_pack(stack);
	return stack;
}

static void expect_frames(struct kunit *test, struct stackid_stack *stack,
			  u64 first)
{
	for (u32 i = 0; i < stack->depth; i++)
		KUNIT_EXPECT_EQ(test, first + 16 * i,
				stackid_frame(stack->word, stack->flags, i));
}

static void kernel_frames_take_half_a_word(struct kunit *test)
{
	for (u32 depth = 1; depth < 40; depth++) {
		struct stackid_stack *stack;

		stack = stack_of(test, KERNEL_FRAME(0), depth);
		KUNIT_EXPECT_EQ(test, stack->words, (depth + 1) / 2);
		expect_frames(test, stack, KERNEL_FRAME(0));
	}
}

static void user_frames_take_a_word(struct kunit *test)
{
	u64 first = STACKID_FRAME_USER(7, 0x123456789a);
	struct stackid_stack *stack;

	stack = stack_of(test, first, STACKID_DEPTH_MAX);
	KUNIT_EXPECT_EQ(test, stack->words, STACKID_DEPTH_MAX);
	expect_frames(test, stack, first);
}

static void empty_and_deep_stacks_are_refused(struct kunit *test)
{
	struct stackid_stack *stack = stack_of(test, KERNEL_FRAME(0), 1);

	stack->depth = 0;
	KUNIT_EXPECT_EQ(test, stackid_pack(stack), 0);
	stack->depth = STACKID_DEPTH_MAX + 1;
	KUNIT_EXPECT_EQ(test, stackid_pack(stack), 0);
}

static void hashes_have_known_values(struct kunit *test)
{
	static const struct {
		u64 first;
		u32 depth;
		u64 hash;
	} known[] = {
		{ KERNEL_FRAME(0), 1, 0x5b397922e204cb3aULL },
		{ KERNEL_FRAME(0), 20, 0xc8d59c4683aa5efbULL },
		{ KERNEL_FRAME(0), 21, 0x563ceec496d3f53cULL },
		{ STACKID_FRAME_USER(7, 0x123456789a), 511, 0x6c4e1545bbd2b32fULL },
	};

	for (u32 i = 0; i < ARRAY_SIZE(known); i++)
		KUNIT_EXPECT_EQ(test, known[i].hash,
				stackid_hash(stack_of(test, known[i].first,
						      known[i].depth), 42));
}

static struct kunit_case stack_cases[] = {
	KUNIT_CASE(kernel_frames_take_half_a_word),
	KUNIT_CASE(user_frames_take_a_word),
	KUNIT_CASE(empty_and_deep_stacks_are_refused),
	KUNIT_CASE(hashes_have_known_values),
	{}
};

static struct kunit_suite stack_suite = {
	.name = "stackmap_stack",
	.test_cases = stack_cases,
};

kunit_test_suite(stack_suite);
