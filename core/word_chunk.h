/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words of a stack, sixteen at a time. The verifier would walk a plain loop over them as often
 * as it may run, 512 times, in each program that takes a stack: half of what it had to do. The body
 * of core_loop() it walks once; sixteen words a call make the call cheap. What is left is taken in
 * groups of eight, four, two and one, without a loop. A short stack is nothing else.
 *
 * The work is a function words(arg, at, count): `count` words from `at` on, `count` a constant.
 */
#ifndef CORE_WORD_CHUNK_H
#define CORE_WORD_CHUNK_H

#include "env.h"
#include "stack.h"

#define WORD_CHUNK 16

/* Where chunk i begins, if all of it is within a stack; else STACK_WORDS_MAX. */
#define word_chunk_begin(i)                                                                        \
	({                                                                                         \
		u32 chunk_begin = (i)*WORD_CHUNK;                                                  \
                                                                                                   \
		core_one_register(chunk_begin);                                                    \
		chunk_begin > STACK_WORDS_MAX - WORD_CHUNK ? STACK_WORDS_MAX : chunk_begin;        \
	})

/* Whether a part of `size` words is left. The verifier learns nothing of `left` from the answer:
 * what follows looks the same to it on both ways. */
#define words_have(left, size)                                                                     \
	({                                                                                         \
		u32 words_part = (left) & (size);                                                  \
                                                                                                   \
		core_one_register(words_part);                                                     \
		words_part != 0;                                                                   \
	})

/* Does the work for `total` words: by chunk(i, arg), which calls words() for a whole chunk, and by
 * words() itself. A call of core_loop() alone takes as long as a short stack: there is none then.
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
