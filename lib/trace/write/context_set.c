/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trace/write/context_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "array.h"

#define CONTEXTS_MAX (1U << 22)

/*
 * Programs that are recorded choose the ids, so the hash has secret keys: the sum of products of
 * 32-bit halves (Lemire and Kaser 2014, "Strongly universal string hashing is fast").
 */
static u32 hash_of(struct context_set *set, const struct trace_context *context)
{
	u32 half[CONTEXT_HALVES];
	u64 sum = 0;

	if (!set->index.count &&
	    getrandom(set->keys, sizeof(set->keys), GRND_NONBLOCK) != sizeof(set->keys))
		set->keys[0] = (u64)set;
	memcpy(half, context, sizeof(half));
	for (u32 i = 0; i < CONTEXT_HALVES; i++)
		sum += half[i] * set->keys[i];
	return sum >> 32;
}

static bool is_context(const void *items, u32 index, const void *context)
{
	return memcmp(&((const struct trace_context *)items)[index], context,
		      sizeof(struct trace_context)) == 0;
}

int context_set_number(struct context_set *set, const struct trace_context *context, u32 *number)
{
	u32 hash = hash_of(set, context);
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
