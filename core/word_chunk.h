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

/* Does the work for `total` words: by chunk(i, arg), which calls words() for a whole chunk, and by
 * words() itself. A call of core_loop() alone takes as long as a short stack: there is none then.
 */
#define words_each(total, chunk, words, arg)                                                       \
	do {                                                                                       \
		u32 left = (total), at = left & ~(WORD_CHUNK - 1U);                                \
                                                                                                   \
		core_one_register(at);                                                             \
		if (at)                                                                            \
			core_loop(at / WORD_CHUNK, chunk, arg);                                    \
		if (at > STACK_WORDS_MAX - WORD_CHUNK)                                             \
			break;                                                                     \
		if (left & 8) {                                                                    \
			words(arg, at, 8);                                                         \
			at += 8;                                                                   \
		}                                                                                  \
		if (left & 4) {                                                                    \
			words(arg, at, 4);                                                         \
			at += 4;                                                                   \
		}                                                                                  \
		if (left & 2) {                                                                    \
			words(arg, at, 2);                                                         \
			at += 2;                                                                   \
		}                                                                                  \
		if (left & 1)                                                                      \
			words(arg, at, 1);                                                         \
	} while (0)

#endif
