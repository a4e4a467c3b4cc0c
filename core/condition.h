/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The comparison of one condition of a question (abi/question.h). */
#ifndef CORE_CONDITION_H
#define CORE_CONDITION_H

#include <stdbool.h>

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

#endif
