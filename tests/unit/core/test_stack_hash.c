/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stack_hash.h"

#include <string.h>

#include "unit_test.h"

#define SEED 0x0123456789abcdefULL
#define WORDS 7

static struct stack make_sample_stack(void)
{
	struct stack stack = {.depth = WORDS, .words = WORDS};

	for (u32 i = 0; i < STACK_WORDS_MAX; i++)
		stack.word[i] = 0xffffffff81000000ULL + 0x1234 * i;
	return stack;
}

TEST(words_beyond_the_stack_do_not_count)
{
	struct stack stack = make_sample_stack();
	u64 hash = stack_hash(&stack, SEED);

	memset(&stack.word[WORDS], 0, 8);
	assert_int_equal(stack_hash(&stack, SEED), hash);
}

TEST(seed_depth_and_flags_count)
{
	struct stack stack = make_sample_stack();
	u64 hash = stack_hash(&stack, SEED);

	assert_int_not_equal(stack_hash(&stack, SEED + 1), hash);
	stack.flags = STACK_TRUNCATED;
	assert_int_not_equal(stack_hash(&stack, SEED), hash);
	stack.flags = 0;
	stack.depth++;
	assert_int_not_equal(stack_hash(&stack, SEED), hash);
}

/* Each input bit turns each output bit in about half of the stacks: 448 bits of input, so 224 +- 5
 * sigma. */
TEST(every_bit_of_the_words_reaches_every_bit_of_the_hash)
{
	struct stack stack = make_sample_stack();
	u64 hash = stack_hash(&stack, SEED);
	u32 turned[64] = {0};

	for (u32 bit = 0; bit < 64 * WORDS; bit++) {
		u64 change;

		stack.word[bit / 64] ^= 1ULL << bit % 64;
		change = stack_hash(&stack, SEED) ^ hash;
		stack.word[bit / 64] ^= 1ULL << bit % 64;
		for (u32 i = 0; i < 64; i++)
			turned[i] += change >> i & 1;
	}
	for (u32 i = 0; i < 64; i++)
		assert_in_range(turned[i], 224 - 53, 224 + 53);
}

/* 2^14 stacks that differ in the low bits of one frame spread over 2^15 slots like random numbers
 * do. */
TEST(neighbouring_stacks_spread)
{
	static u8 taken[1 << 15];
	u32 used = 0;

	for (u32 half = 0; half < 2; half++) {
		struct stack stack = make_sample_stack();

		memset(taken, 0, sizeof(taken));
		used = 0;
		for (u32 i = 0; i < 1 << 14; i++) {
			u32 slot;

			stack.word[3] = 0x8100000081000000ULL + ((u64)i << half * 32);
			slot = stack_hash(&stack, SEED) % sizeof(taken);
			used += !taken[slot];
			taken[slot] = 1;
		}
		/* expected: 32768 * (1 - e^-0.5) = 12893, sigma 53 */
		assert_in_range(used, 12893 - 5 * 53, 12893 + 5 * 53);
	}
}
