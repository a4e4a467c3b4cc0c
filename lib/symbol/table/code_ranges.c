/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sorted array in which each range is linked to the nearest earlier range that reaches beyond its
 * start, as in symbol_table.c. A search is a binary search; if the range found has ended before the
 * address, the search follows the links outwards.
 */
#include "code_ranges.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "array.h"
#include "order.h"

#define NO_OUTER UINT32_MAX
#define RANGES_MAX (1U << 26)
#define OUTER_STEPS_MAX 64 /* real nesting is one or two deep; more is a hostile file */

int code_ranges_add(struct code_ranges *ranges, u64 start, u64 end, u32 value)
{
	if (end <= start)
		return 0;
	if (ranges->count == RANGES_MAX ||
	    array_make_room(ranges->range, ranges->count, ranges->room))
		return -ENOMEM;
	ranges->range[ranges->count++] =
		(struct code_range){.start = start, .end = end, .value = value};
	return 0;
}

/* Orders by start; the widest range comes first, so an inner range follows its outer one. */
static int compare_ranges(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;
	int by = order(a->start, b->start);

	if (!by)
		by = order(b->end, a->end);
	return by ? by : order(a->value, b->value);
}

void code_ranges_seal(struct code_ranges *ranges)
{
	struct code_range *range = ranges->range;

	if (!ranges->count)
		return;
	qsort(range, ranges->count, sizeof(*range), compare_ranges);
	for (u32 i = 0; i < ranges->count; i++) {
		u32 outer = i ? i - 1 : NO_OUTER;

		while (outer != NO_OUTER && range[outer].end <= range[i].start)
			outer = range[outer].outer;
		range[i].outer = outer;
	}
}

bool code_ranges_find(const struct code_ranges *ranges, u64 address, u32 *value)
{
	/* The last range that starts at or before the address. */
	u32 index = bisect(ranges->count, i, ranges->range[i].start <= address) - 1;

	for (u32 steps = 0; index < ranges->count && steps < OUTER_STEPS_MAX; steps++) {
		const struct code_range *range = &ranges->range[index];

		if (address < range->end) {
			*value = range->value;
			return true;
		}
		index = range->outer;
	}
	return false;
}

void code_ranges_clear(struct code_ranges *ranges)
{
	free(ranges->range);
	*ranges = (struct code_ranges){};
}
