/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loops over the words of a stack, sixteen words at a time. The verifier would walk a plain loop
 * 512 times in each program that takes a stack, which was half of its work. The verifier walks the
 * body of core_loop() once. Each call of the body handles sixteen words, which makes the calls
 * cheap. The rest of less than sixteen words is taken in groups of eight, four, two and one,
 * without a loop. A stack of less than sixteen words needs no call.
 *
 * The work is a function words(arg, at, count): `count` words from `at` on, `count` a constant.
 */
#ifndef CORE_WORD_CHUNK_H
#define CORE_WORD_CHUNK_H

#include "env.h"
#include "stack.h"

#define WORD_CHUNK 16

/* The first word of chunk i if the whole chunk is within a stack; else STACK_WORDS_MAX. */
#define word_chunk_begin(i)                                                                        \
	({                                                                                         \
		u32 chunk_begin = (i)*WORD_CHUNK;                                                  \
                                                                                                   \
		core_one_register(chunk_begin);                                                    \
		chunk_begin > STACK_WORDS_MAX - WORD_CHUNK ? STACK_WORDS_MAX : chunk_begin;        \
	})

/*
 * True if a group of `size` words is left. The verifier learns no bound of `left` from the result,
 * so it follows the code after the test in one state.
 */
#define words_have(left, size)                                                                     \
	({                                                                                         \
		u32 words_part = (left) & (size);                                                  \
                                                                                                   \
		core_one_register(words_part);                                                     \
		words_part != 0;                                                                   \
	})

/*
 * Calls words() for `total` words: chunk(i, arg) calls words() for a whole chunk, and words() is
 * called directly for the rest. A call of core_loop() alone takes as long as a short stack, so
 * short stacks skip it.
 */
#define words_each(total, chunk, words, arg)                                                       \
	do {                                                                                       \
		u32 left = (total), chunks = left / WORD_CHUNK;                                    \
                                                                                                   \
		core_one_register(chunks);                                                         \
		if (chunks)                                                                        \
			core_loop(chunks, chunk, arg);                                             \
		core_one_register(left);                                                           \
		if (left >= STACK_WORDS_MAX)                                                       \
			break;                                                                     \
		if (words_have(left, 8))                                                           \
			words(arg, left & ~15U, 8);                                                \
		if (words_have(left, 4))                                                           \
			words(arg, left & ~7U, 4);                                                 \
		if (words_have(left, 2))                                                           \
			words(arg, left & ~3U, 2);                                                 \
		if (words_have(left, 1))                                                           \
			words(arg, left & ~1U, 1);                                                 \
	} while (0)

#endif
