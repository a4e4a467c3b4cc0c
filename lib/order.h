/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order of numbers: comparison for qsort(3), and binary search in a sorted sequence. */
#ifndef LIB_ORDER_H
#define LIB_ORDER_H

#include <stddef.h>

#include "scalar.h"

static inline int order(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/* The number of items `i` at the beginning for which the expression `is_before` is true. */
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
