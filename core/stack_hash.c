/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two scratch slots of xor, multiply, fold, over alternate words, so that two multiplications are
 * always in flight: a short stack is hashed in the time of its longest dependency chain. A
 * multiplication carries differences upwards only; the fold (upper half xored into the lower)
 * brings them back down, because a packed word has a frame in its upper half. Each step is a
 * bijection of the scratch slot, so two stacks that differ in one word never collide within that
 * scratch slot.
 *
 * Not cryptographic: whoever can choose code addresses freely may find collisions. They cost
 * probes, never a wrong id.
 */
#include "stack_hash.h"

/* Tests keep only some bits, so that collisions happen. */
#ifndef STACK_HASH_KEEP
#define STACK_HASH_KEEP ~0ULL
#endif

/* Odd, about half of the bits set, without pattern: fractions of the square roots of 2, 3, 5 and 7.
 */
#define MULTIPLIER_A 0x6a09e667f3bcc909ULL
#define MULTIPLIER_B 0xbb67ae8584caa73bULL
#define MULTIPLIER_C 0x3c6ef372fe94f82bULL
#define MULTIPLIER_D 0xa54ff53a5f1d36f1ULL

CORE_PART u64 mix(u64 scratch, u64 word, u64 multiplier)
{
	scratch = (scratch ^ word) * multiplier;
	return scratch ^ scratch >> 32;
}

CORE_PART u64 word_at(const struct stack *stack, u32 i)
{
	core_one_register(i);
	return i < STACK_WORDS_MAX ? stack->word[i] : 0;
}

CORE_GLOBAL u64 stack_hash(const struct stack *stack, u64 seed)
{
	u64 a, b;
	u32 words;

	if (core_is_null(stack))
		return 0;
	words = stack->words & ~1U;
	a = seed;
	b = mix(~seed, (u64)stack->flags << 16 | stack->depth, MULTIPLIER_B);
	for (u32 i = 0; i < STACK_WORDS_MAX && i < words; i += 2) {
		a = mix(a, stack->word[i], MULTIPLIER_A);
		b = mix(b, stack->word[i + 1], MULTIPLIER_B);
	}
	words = core_reload(stack->words);
	if (words % 2)
		a = mix(a, word_at(stack, words - 1), MULTIPLIER_A);
	return mix(a, b * MULTIPLIER_C, MULTIPLIER_D) & STACK_HASH_KEEP;
}
