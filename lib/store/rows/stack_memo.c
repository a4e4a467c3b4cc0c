/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/rows/stack_memo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static void forget(struct stack_memo *memo)
{
	hash_index_clear(&memo->side_index);
	hash_index_clear(&memo->stack_index);
	memo->side_count = memo->stack_count = memo->frame_count = 0;
	if (memo->mappings)
		memset(memo->mappings, 0, memo->mapping_room * sizeof(*memo->mappings));
}

void stack_memo_free(struct stack_memo *memo)
{
	hash_index_free(&memo->side_index);
	hash_index_free(&memo->stack_index);
	free(memo->sides);
	free(memo->stacks);
	free(memo->frames);
	free(memo->mappings);
	*memo = (struct stack_memo){};
}

/* --- meaning of mapping numbers --- */

static u64 hash_bytes(u64 hash, const void *bytes, size_t count)
{
	const u8 *at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = hash_word(hash, at[i]);
	return hash_word(hash, count);
}

static u64 hash_module(u64 hash, const struct trace_module *module)
{
	hash = hash_bytes(hash, module->name, strlen(module->name));
	hash = hash_bytes(hash, module->build_id, module->build_id_bytes);
	return hash_word(hash_word(hash, module->start), module->end);
}

static u64 hash_modules(const struct trace_reader *reader)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);
	u64 hash = 1;

	for (u32 i = 0; i < count; i++)
		hash = hash_module(hash, &modules[i]);
	return hash;
}

/* Returns a hash that is never 0. */
static u64 hash_mapping(const struct trace_mapping *mapping)
{
	u64 hash = hash_bytes(mapping->kind, mapping->build_id, mapping->build_id_bytes);

	return hash_bytes(hash, mapping->path, strlen(mapping->path)) | 1;
}

/* Stores the meaning of each mapping number. False if a number means another mapping than before. A
 * window in which a build id became known has two records of one number: the last record applies.
 */
static bool learn_mappings(struct stack_memo *memo, const struct trace_reader *reader)
{
	const struct trace_mapping *mappings;
	u32 count = trace_reader_mappings(reader, &mappings);
	bool same = true;

	for (u32 i = 0; i < count; i++) {
		u32 number = mappings[i].number;
		u64 *known = &memo->mappings[number];
		u64 now = hash_mapping(trace_reader_mapping(reader, number));

		same &= !*known || *known == now;
		*known = now;
	}
	return same;
}

static u64 bytes_of(const struct stack_memo *memo)
{
	return (u64)memo->side_count * (sizeof(struct memo_side) + 4 * sizeof(struct hash_slot)) +
	       (u64)memo->stack_count * (sizeof(struct memo_stack) + 4 * sizeof(struct hash_slot)) +
	       (u64)memo->frame_count * sizeof(*memo->frames);
}

int stack_memo_begin(struct stack_memo *memo, struct trace_reader *reader)
{
	const struct trace_mapping *mappings;
	u32 count = trace_reader_mappings(reader, &mappings), highest = 0;
	u64 modules = hash_modules(reader);

	for (u32 i = 0; i < count; i++)
		highest = mappings[i].number > highest ? mappings[i].number : highest;
	if (array_make_zeroed(memo->mappings, highest + 1UL, memo->mapping_room))
		return -ENOMEM;
	if (modules != memo->modules || bytes_of(memo) > memo->most)
		forget(memo);
	memo->modules = modules;
	if (learn_mappings(memo, reader))
		return 0;
	forget(memo);
	learn_mappings(memo, reader);
	return 0;
}

/* --- sides --- */

struct side_key {
	const struct stack_memo *memo;
	const struct trace_stack *stack;
};

static bool is_side(const void *sides, u32 index, const void *arg)
{
	const struct memo_side *side = &((const struct memo_side *)sides)[index];
	const struct side_key *key = arg;

	return side->depth == key->stack->depth &&
	       !memcmp(key->memo->frames + side->first, key->stack->frames,
		       side->depth * sizeof(*key->memo->frames));
}

static u32 hash_side(const struct trace_stack *stack)
{
	return hash_end(
		hash_words(stack->depth, stack->frames, stack->depth * sizeof(*stack->frames)));
}

u32 stack_memo_side(const struct stack_memo *memo, const struct trace_stack *stack)
{
	const struct side_key key = {memo, stack};

	return hash_index_find(&memo->side_index, hash_side(stack), is_side, memo->sides, &key);
}

u32 stack_memo_add_side(struct stack_memo *memo, const struct trace_stack *stack,
			const struct stack_hash *hash)
{
	u32 depth = stack->depth;

	if (array_make_room(memo->sides, memo->side_count, memo->side_room) ||
	    array_make_rooms(memo->frames, (u64)memo->frame_count + depth, memo->frame_room) ||
	    hash_index_add(&memo->side_index, hash_side(stack), memo->side_count))
		return STACK_MEMO_NONE;
	if (depth)
		memcpy(memo->frames + memo->frame_count, stack->frames,
		       depth * sizeof(*memo->frames));
	memo->sides[memo->side_count] = (struct memo_side){memo->frame_count, depth, *hash};
	memo->frame_count += depth;
	return memo->side_count++;
}

/* --- whole stacks --- */

static bool is_stack(const void *stacks, u32 index, const void *key)
{
	return !memcmp(&((const struct memo_stack *)stacks)[index].key, key,
		       sizeof(struct memo_key));
}

static u32 hash_key(const struct memo_key *key)
{
	return hash_end(hash_words(0, key, sizeof(*key)));
}

struct memo_stack *stack_memo_stack(struct stack_memo *memo, const struct memo_key *key)
{
	u32 found = hash_index_find(&memo->stack_index, hash_key(key), is_stack, memo->stacks, key);

	return found == HASH_INDEX_NONE ? NULL : &memo->stacks[found];
}

void stack_memo_add_stack(struct stack_memo *memo, const struct memo_stack *stack)
{
	if (array_make_room(memo->stacks, memo->stack_count, memo->stack_room) ||
	    hash_index_add(&memo->stack_index, hash_key(&stack->key), memo->stack_count))
		return;
	memo->stacks[memo->stack_count++] = *stack;
}
