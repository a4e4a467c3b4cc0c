/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Address ranges, each with a number: filled in any order, sealed once, then searched. All zero =
 * empty. */
#ifndef LIB_SYMBOL_CODE_RANGES_H
#define LIB_SYMBOL_CODE_RANGES_H

#include <stdbool.h>

#include "scalar.h"

struct code_range {
	u64 start, end; /* [start, end) */
	u32 value;
	u32 outer; /* index of the nearest earlier range that ends after this range's `start` */
};

struct code_ranges {
	struct code_range *range;
	u32 count, room;
};

/* Adds [start, end) with its number `value`. 0 or -ENOMEM. An empty range is left out. */
int code_ranges_add(struct code_ranges *ranges, u64 start, u64 end, u32 value);

/* Sorts the ranges. Call once, after the last add and before the first find. */
void code_ranges_seal(struct code_ranges *ranges);

/* Sets the number of the innermost range that covers the address: the range with the latest start.
 * False: no range covers the address. */
bool code_ranges_find(const struct code_ranges *ranges, u64 address, u32 *value);

void code_ranges_clear(struct code_ranges *ranges);

#endif
