/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Address ranges with a number each: filled in any order, sealed once, then searched. All zero is
 * an empty one. */
#ifndef LIB_SYMBOL_CODE_RANGES_H
#define LIB_SYMBOL_CODE_RANGES_H

#include <stdbool.h>

#include "scalar.h"

struct code_range {
	u64 start, end; /* end: behind its last byte */
	u32 value;
	u32 outer;
};

struct code_ranges {
	struct code_range *range;
	u32 count, room;
};

/* 0 or -ENOMEM. A range that covers nothing is left out. */
int code_ranges_add(struct code_ranges *ranges, u64 start, u64 end, u32 value);

/* Call once, after the last add and before the first find. */
void code_ranges_seal(struct code_ranges *ranges);

/* The number of the innermost range that covers the address: the one that starts nearest before it.
 */
bool code_ranges_find(const struct code_ranges *ranges, u64 address, u32 *value);

void code_ranges_clear(struct code_ranges *ranges);

#endif
