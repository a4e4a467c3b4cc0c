/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The comparisons that decide if an event is recorded: conditions on the fields of an event
 * (abi/question.h), and the task names of --comm.
 */
#ifndef CORE_CONDITION_H
#define CORE_CONDITION_H

#include <stdbool.h>

#include "config.h"
#include "env.h"
#include "question.h"

/* Widens a number of `bytes` bytes, 1 to 8, whose upper bytes are zero. */
CORE_PART u64 event_number_widen(u64 value, u32 bytes, bool is_signed)
{
	u32 shift = 64 - 8 * bytes;

	return is_signed ? (u64)((s64)(value << shift) >> shift) : value;
}

/* With the highest bit flipped, the unsigned order of words is the signed order. */
CORE_PART u32 compare_numbers(u64 left, u64 right, bool is_signed)
{
	u64 flip = (u64)is_signed << 63;

	left ^= flip;
	right ^= flip;
	return left < right ? COMPARED_LESS : left == right ? COMPARED_EQUAL : COMPARED_GREATER;
}

/*
 * All globs of --comm are tried at once against the name of a task: 16 bytes, zeros after the
 * text. The method is Shift-And (Baeza-Yates and Gonnet, CACM 35/10, 1992), with the states of
 * stars as in Navarro and Raffinot, "Flexible Pattern Matching in Strings", chapter 4.
 *
 * A glob is a sequence of elements, each of which matches one byte: a byte, `?`, or a set. A star
 * is not an element; it stands between two elements. A glob of n elements has the states 0 to n +
 * 1, and each state is one bit. State i, up to n, is set while the text so far matches the first i
 * elements. State n + 1 is set when the whole glob has matched and the text has ended.
 *
 * The next byte of the text sets state i + 1 if state i is set and element i + 1 matches the byte
 * (`enters`). A state that has a star after it stays set whatever the byte is (`stays`), and so
 * does state n + 1. State 0 of each glob is set at the start (`first`).
 *
 * Each byte of the text costs one load from a table. If no state is set, no later byte sets one:
 * the walk tests for this after each four bytes, and ends.
 */
CORE_PART bool comm_globs_match(const volatile struct comm_globs *globs, const u8 *comm)
{
	u64 states = globs->first, stays = globs->stays;

	for (u32 i = 0; i < COMM_BYTES; i++) {
		states = (states << 1 & globs->enters[comm[i]]) | (states & stays);
		if (i % 4 == 3 && !states)
			return false;
	}
	return states & globs->last;
}

#endif
