/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash finds candidates, which are compared by frames and flags. */
#include "trace/write/stack_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static u32 stack_hash(const struct trace_stack *stack)
{
	return hash_end(hash_words(stack->flags, stack->frames, stack->depth * sizeof(u64)));
}

static bool is_stack(const void *entries, u32 index, const void *key)
{
	const struct stack_set_entry *entry = &((const struct stack_set_entry *)entries)[index];
	const struct trace_stack *stack = key;

	return entry->depth == stack->depth && entry->flags == stack->flags &&
	       !memcmp(entry->frames, stack->frames, stack->depth * sizeof(u64));
}

bool stack_set_find(const struct stack_set *set, const struct trace_stack *stack, u32 *index)
{
	u32 found = hash_index_find(&set->index, stack_hash(stack), is_stack, set->entries, stack);

	if (found == HASH_INDEX_NONE)
		return false;
	*index = set->entries[found].index;
	return true;
}

int stack_set_add(struct stack_set *set, const struct trace_stack *stack, u32 index)
{
	u32 count = set->index.count;
	u64 *frames;

	if (array_make_room(set->entries, count, set->room))
		return -ENOMEM;
	frames = malloc(stack->depth * sizeof(u64));
	if (!frames || hash_index_add(&set->index, stack_hash(stack), count)) {
		free(frames);
		return -ENOMEM;
	}
	memcpy(frames, stack->frames, stack->depth * sizeof(u64));
	set->entries[count] = (struct stack_set_entry){frames, stack->depth, stack->flags, index};
	return 0;
}

void stack_set_free(struct stack_set *set)
{
	for (u32 i = 0; i < set->index.count; i++)
		free(set->entries[i].frames);
	free(set->entries);
	hash_index_free(&set->index);
	memset(set, 0, sizeof(*set));
}
