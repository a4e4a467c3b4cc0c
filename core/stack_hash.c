/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two lanes of xor, multiply, fold, over alternate words, so that two multiplications are always in
 * flight: the hash of a short stack takes the time of its longest dependency chain. A
 * multiplication carries differences upwards only; the fold (upper half xored into the lower)
 * brings them back down, because a packed word has a frame in its upper half. Each step is a
 * bijection of the lane, so two stacks that differ in one word never collide within that lane.
 *
 * The hash is not cryptographic: an attacker who can choose code addresses freely may find
 * collisions. Collisions cost probes, never a wrong id.
 */
#include "stack_hash.h"

#include "word_chunk.h"

/* Tests define a mask of few hash bits, so that collisions happen. */
#ifndef STACK_HASH_KEEP
#define STACK_HASH_KEEP ~0ULL
#endif

/*
 * Odd numbers with about half of the bits set and no pattern: fractions of the square roots of 2,
 * 3, 5 and 7.
 */
#define MULTIPLIER_A 0x6a09e667f3bcc909ULL
#define MULTIPLIER_B 0xbb67ae8584caa73bULL
#define MULTIPLIER_C 0x3c6ef372fe94f82bULL
#define MULTIPLIER_D 0xa54ff53a5f1d36f1ULL

CORE_PART u64 mix(u64 lane, u64 word, u64 multiplier)
{
	lane = (lane ^ word) * multiplier;
	return lane ^ lane >> 32;
}

struct hashing {
	const struct stack *stack;
	u64 a, b;
};

CORE_PART void mix_words(struct hashing *hashing, u32 at, u32 count)
{
	const u64 *word = &hashing->stack->word[at];
	u64 a = hashing->a, b = hashing->b;

	for (u32 i = 0; i < count; i++) {
		if (i % 2)
			b = mix(b, word[i], MULTIPLIER_B);
		else
			a = mix(a, word[i], MULTIPLIER_A);
	}
	hashing->a = a;
	hashing->b = b;
}

static long mix_chunk(u32 i, void *arg)
{
	u32 first = word_chunk_begin(i);

	if (first >= STACK_WORDS_MAX)
		return 1;
	mix_words(arg, first, WORD_CHUNK);
	return 0;
}

CORE_GLOBAL u64 stack_hash(const struct stack *stack, u64 seed)
{
	struct hashing hashing = {.stack = stack, .a = seed};
	u32 words;

	if (core_is_null(stack))
		return 0;
	words = stack->words;
	hashing.b = mix(~seed, (u64)stack->flags << 16 | stack->depth, MULTIPLIER_B);
	words_each(words, mix_chunk, mix_words, &hashing);
	return mix(hashing.a, hashing.b * MULTIPLIER_C, MULTIPLIER_D) & STACK_HASH_KEEP;
}
