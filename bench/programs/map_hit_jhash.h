/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash that the kernel's own stack depots use, in place of core/stack_hash.c: Bob Jenkins'
 * lookup3 (2006, public domain), three u32 at a time. Two final mixes give the 64 bits of the stack
 * map's hash.
 */
#ifndef BENCH_MAP_HIT_JHASH_H
#define BENCH_MAP_HIT_JHASH_H

#include "stack_hash.h"

#define ROTATE(value, by) ((value) << (by) | (value) >> (32 - (by)))

#define LOOKUP3_STEP(x, y, z, by) (x -= z, x ^= ROTATE(z, by), z += y)
#define LOOKUP3_MIX(a, b, c)                                                                       \
	(LOOKUP3_STEP(a, b, c, 4), LOOKUP3_STEP(b, c, a, 6), LOOKUP3_STEP(c, a, b, 8),             \
	 LOOKUP3_STEP(a, b, c, 16), LOOKUP3_STEP(b, c, a, 19), LOOKUP3_STEP(c, a, b, 4))

#define LOOKUP3_END(x, y, by) (x ^= y, x -= ROTATE(y, by))
#define LOOKUP3_FINAL(a, b, c)                                                                     \
	(LOOKUP3_END(c, b, 14), LOOKUP3_END(a, c, 11), LOOKUP3_END(b, a, 25),                      \
	 LOOKUP3_END(c, b, 16), LOOKUP3_END(a, c, 4), LOOKUP3_END(b, a, 14),                       \
	 LOOKUP3_END(c, b, 24))

CORE_GLOBAL u64 stack_hash(const struct stack *stack, u64 seed)
{
	u32 a, b, c, units;

	if (core_is_null(stack))
		return 0;
	units = 2 * stack->words;
	a = b = c = 0xdeadbeef + (units << 2) + (u32)seed;
	for (u32 i = 0; i < 2 * STACK_WORDS_MAX - 4 && i + 3 < units; i += 3) {
		const u32 *unit = (const u32 *)stack->word + i;

		a += unit[0];
		b += unit[1];
		c += unit[2];
		LOOKUP3_MIX(a, b, c);
	}
	if (units >= 1 && units <= 2 * STACK_WORDS_MAX)
		a += ((const u32 *)stack->word)[units - 1];
	LOOKUP3_FINAL(a, b, c);
	return (u64)b << 32 | c;
}

#endif
