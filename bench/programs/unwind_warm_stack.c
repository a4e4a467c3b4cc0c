/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A deep stack of different functions, each with values that live across its call. The file is
 * compiled twice, with and without frame pointers.
 */
#include "unwind_warm_stack.h"

#define noinline __attribute__((noinline, noclone))

#define LEVEL(n, inner)                                                                            \
	noinline static long level_##n(void (*leaf)(void), long a, long b, long c)                 \
	{                                                                                          \
		return inner(leaf, b + n, c ^ a, a - b) + a * b + c;                               \
	}
#define LEVELS(n, inner)                                                                           \
	LEVEL(n##1, inner)                                                                         \
	LEVEL(n##2, level_##n##1)                                                                  \
	LEVEL(n##3, level_##n##2)                                                                  \
	LEVEL(n##4, level_##n##3)                                                                  \
	LEVEL(n##5, level_##n##4)                                                                  \
	LEVEL(n##6, level_##n##5)                                                                  \
	LEVEL(n##7, level_##n##6)                                                                  \
	LEVEL(n##8, level_##n##7)

noinline static long innermost(void (*leaf)(void), long a, long b, long c)
{
	leaf();
	return a + b + c;
}

LEVELS(1, innermost)
LEVELS(2, level_18)
LEVELS(3, level_28)
LEVELS(4, level_38)
LEVELS(5, level_48)

long WARM_STACK(void (*leaf)(void))
{
	return level_58(leaf, 1, 2, 3);
}
