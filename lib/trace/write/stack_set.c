/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Linear probing, doubled at half full; the full hash is kept to spare most compares and all
 * rehashing. */
#include "trace/write/stack_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STACK_SET_BITS_MIN 10
#define STACK_SET_BITS_MAX 30

static u64 stack_hash(const struct trace_stack *stack)
{
	u64 hash = stack->flags;

	for (u32 i = 0; i < stack->depth; i++) {
		hash = (hash ^ stack->frames[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

static bool is_same(const struct stack_set_entry *entry, const struct trace_stack *stack, u64 hash)
{
	return entry->hash == hash && entry->depth == stack->depth &&
	       entry->flags == stack->flags &&
	       !memcmp(entry->frames, stack->frames, stack->depth * sizeof(u64));
}

static u32 first_slot(const struct stack_set *set, u64 hash)
{
	return (u32)((hash * 0x9e3779b97f4a7c15ULL) >> (64 - set->bits));
}

static void place(struct stack_set *set, const struct stack_set_entry *entry)
{
	u32 slot = first_slot(set, entry->hash);

	while (set->entries[slot].frames)
		slot = (slot + 1) & ((1U << set->bits) - 1);
	set->entries[slot] = *entry;
	set->count++;
}

static int grow(struct stack_set *set)
{
	struct stack_set larger = {.bits = set->bits ? set->bits + 1 : STACK_SET_BITS_MIN};

	if (larger.bits > STACK_SET_BITS_MAX)
		return -ENOMEM;
	larger.entries = calloc(1UL << larger.bits, sizeof(*larger.entries));
	if (!larger.entries)
		return -ENOMEM;
	for (u32 i = 0; set->entries && i < 1U << set->bits; i++)
		if (set->entries[i].frames)
			place(&larger, &set->entries[i]);
	free(set->entries);
	*set = larger;
	return 0;
}

bool stack_set_find(const struct stack_set *set, const struct trace_stack *stack, u32 *index)
{
	u64 hash = stack_hash(stack);

	if (!set->entries)
		return false;
	for (u32 slot = first_slot(set, hash); set->entries[slot].frames;
	     slot = (slot + 1) & ((1U << set->bits) - 1)) {
		if (!is_same(&set->entries[slot], stack, hash))
			continue;
		*index = set->entries[slot].index;
		return true;
	}
	return false;
}

int stack_set_add(struct stack_set *set, const struct trace_stack *stack, u32 index)
{
	struct stack_set_entry entry = {
		.hash = stack_hash(stack),
		.depth = stack->depth,
		.flags = stack->flags,
		.index = index,
	};
	bool is_full = !set->entries || set->count >= 1U << (set->bits - 1);

	if (is_full && grow(set))
		return -ENOMEM;
	entry.frames = malloc(stack->depth * sizeof(u64));
	if (!entry.frames)
		return -ENOMEM;
	memcpy(entry.frames, stack->frames, stack->depth * sizeof(u64));
	place(set, &entry);
	return 0;
}

void stack_set_free(struct stack_set *set)
{
	for (u32 i = 0; set->entries && i < 1U << set->bits; i++)
		free(set->entries[i].frames);
	free(set->entries);
	memset(set, 0, sizeof(*set));
}
