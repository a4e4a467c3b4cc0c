/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comparison for qsort(3) and similar functions. */
#ifndef LIB_ORDER_H
#define LIB_ORDER_H

#include "scalar.h"

static inline int order(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

#endif
