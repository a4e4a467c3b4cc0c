/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A generation's number is never used again, so it tells whether what is noted is of it. */
#include "capture/drain/written_stacks.h"

#include <stdlib.h>
#include <string.h>

static bool is_ready(struct written_table *written, u64 generation, u64 slots)
{
	if (!written->items)
		written->items = calloc(slots, sizeof(*written->items));
	else if (written->generation != generation)
		memset(written->items, 0, slots * sizeof(*written->items));
	written->generation = generation;
	return written->items;
}

struct written_stack *written_stacks_at(struct written_stacks *stacks, const struct loaded *loaded,
					const struct generation_table *table, u32 id)
{
	struct written_table *written = &stacks->tables[table - loaded->tables];
	u32 bits = loaded->plan.geometry.bits;

	if (!is_ready(written, generation_of(table), TABLE_SLOTS(bits)))
		return NULL;
	return &written->items[STACK_ID_INDEX(id, bits)];
}

void written_stacks_forget(struct written_stacks *stacks)
{
	u32 i;

	for (i = 0; i < TABLE_ROLES; i++)
		stacks->tables[i].generation = 0;
}

void written_stacks_free(struct written_stacks *stacks)
{
	u32 i;

	for (i = 0; i < TABLE_ROLES; i++)
		free(stacks->tables[i].items);
	*stacks = (struct written_stacks){};
}
