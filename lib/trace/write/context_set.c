/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trace/write/context_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define CONTEXTS_MAX (1U << 28)

static bool is_context(const void *items, u32 index, const void *context)
{
	return memcmp(&((const struct trace_context *)items)[index], context,
		      sizeof(struct trace_context)) == 0;
}

int context_set_number(struct context_set *set, const struct trace_context *context, u32 *number)
{
	u32 hash = hash_end(hash_words(0, context, sizeof(*context)));
	u32 count = set->index.count, known;

	known = hash_index_find(&set->index, hash, is_context, set->items, context);
	if (known == HASH_INDEX_NONE) {
		if (count == CONTEXTS_MAX)
			return -E2BIG;
		if (array_make_room(set->items, count, set->room) ||
		    hash_index_add(&set->index, hash, count))
			return -ENOMEM;
		set->items[count] = *context;
		known = count;
	}
	*number = known;
	return 0;
}

void context_set_free(struct context_set *set)
{
	free(set->items);
	hash_index_free(&set->index);
	*set = (struct context_set){};
}
