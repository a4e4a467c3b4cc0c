// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two lanes of xor, multiply, fold, over alternate words, so that two
 * multiplications are always in flight: the hash of a short stack takes the
 * time of its longest dependency chain. A multiplication carries differences
 * upwards only; the fold (upper half xored into the lower) brings them back
 * down, because a packed word has a frame in its upper half. Each step is a
 * bijection of the lane, so two stacks that differ in one word never collide
 * within that lane.
 *
 * The hash is not cryptographic: an attacker who can choose code addresses
 * freely may find collisions. Collisions cost probes, never a wrong id.
 */

#include "stack_hash.h"

/*
 * Odd numbers with about half of the bits set and no pattern: fractions of the
 * square roots of 2, 3, 5 and 7.
 */
#define MULTIPLIER_A 0x6a09e667f3bcc909ULL
#define MULTIPLIER_B 0xbb67ae8584caa73bULL
#define MULTIPLIER_C 0x3c6ef372fe94f82bULL
#define MULTIPLIER_D 0xa54ff53a5f1d36f1ULL

static u64 mix(u64 lane, u64 word, u64 multiplier)
{
	lane = (lane ^ word) * multiplier;
	return lane ^ lane >> 32;
}

u64 stackid_hash(const struct stackid_stack *stack, u64 seed)
{
	u64 identity = (u64)stack->flags << 16 | stack->depth;
	u64 a = seed, b = mix(~seed, identity, MULTIPLIER_B);

	for (u32 i = 0; i < stack->words; i++) {
		if (i % 2)
			b = mix(b, stack->word[i], MULTIPLIER_B);
		else
			a = mix(a, stack->word[i], MULTIPLIER_A);
	}
	return mix(a, b * MULTIPLIER_C, MULTIPLIER_D);
}
