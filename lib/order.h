/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order of numbers and texts: comparison for qsort(3), and binary search in a sorted sequence.
 */
#ifndef LIB_ORDER_H
#define LIB_ORDER_H

#include <stddef.h>
#include <string.h>

#include "scalar.h"

static inline int order(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static inline u64 clamp_u64(u64 value, u64 least, u64 most)
{
	return value < least ? least : value > most ? most : value;
}

/* Comparison functions of qsort(3) for arrays of numbers, and of pointers to texts. */
static inline int compare_u64(const void *left, const void *right)
{
	return order(*(const u64 *)left, *(const u64 *)right);
}

static inline int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Binary search: the number of items at the beginning of a sorted sequence for whose index `i` the
 * expression `is_before` is true. */
#define bisect(count, i, is_before)                                                                \
	({                                                                                         \
		size_t low_ = 0, high_ = (count);                                                  \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
                                                                                                   \
			if (is_before)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#endif
