/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts, attributes and stacks are found by a hash index, frames in an open-addressing table. */
#include "trace/write/recorded_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "array.h"
#include "keyed_hash.h"

#define CONTEXTS_MAX (1U << 22)

/*
 * Programs that are recorded choose the ids, so the hash has secret keys: the sum of products of
 * 32-bit halves (Lemire and Kaser 2014, "Strongly universal string hashing is fast").
 */
static u32 hash_context(struct context_set *set, const struct trace_context *context)
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

static bool is_same_context(const void *items, u32 index, const void *context)
{
	return memcmp(&((const struct trace_context *)items)[index], context,
		      sizeof(struct trace_context)) == 0;
}

int context_set_find_or_add_number(struct context_set *set, const struct trace_context *context,
				   u32 *number)
{
	u32 hash = hash_context(set, context);
	u32 count = set->index.count, known;

	known = hash_index_find(&set->index, hash, is_same_context, set->items, context);
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

/* Programs that are recorded choose the attributes, so their hash has a secret key, too. */
static u32 hash_attributes(struct attribute_set *set, const struct trace_attributes *attributes)
{
	struct keyed_hash hash;
	u32 words = 0;

	if (!set->index.count &&
	    getrandom(set->key, sizeof(set->key), GRND_NONBLOCK) != sizeof(set->key))
		set->key[0] = (u64)set;
	keyed_hash_begin(&hash, set->key[0], set->key[1]);
	keyed_hash_add(&hash, (u64)attributes->program << 16 | attributes->bytes);
	for (u32 at = 0; at < attributes->bytes; at += sizeof(u64), words++) {
		u32 left = attributes->bytes - at;
		u64 word = 0;

		memcpy(&word, &attributes->data[at], left < sizeof(word) ? left : sizeof(word));
		keyed_hash_add(&hash, word);
	}
	return (u32)keyed_hash_end(&hash, words + 1);
}

struct attribute_search {
	const struct attribute_set *set;
	const struct trace_attributes *attributes;
};

static bool has_same_attributes(const void *items, u32 index, const void *key)
{
	const struct attribute_place *place = &((const struct attribute_place *)items)[index];
	const struct attribute_search *search = key;

	return place->bytes == search->attributes->bytes &&
	       place->program == search->attributes->program &&
	       !memcmp(&search->set->bytes.data[place->at], search->attributes->data, place->bytes);
}

int attribute_set_number(struct attribute_set *set, const struct trace_attributes *attributes,
			 u32 *number)
{
	const struct attribute_search search = {set, attributes};
	u32 hash = hash_attributes(set, attributes), count = set->index.count;
	u32 known = hash_index_find(&set->index, hash, has_same_attributes, set->items, &search);

	if (known == HASH_INDEX_NONE) {
		if (set->bytes.used + attributes->bytes + (count + 1UL) * ATTRIBUTE_SET_COST >
		    ATTRIBUTE_SET_BYTES_MAX)
			return -E2BIG;
		if (array_make_room(set->items, count, set->room))
			return -ENOMEM;
		set->items[count] = (struct attribute_place){
			(u32)set->bytes.used, attributes->bytes, attributes->program};
		byte_buffer_append(&set->bytes, attributes->data, attributes->bytes);
		if (set->bytes.failed || hash_index_add(&set->index, hash, count))
			return -ENOMEM;
		known = count;
	}
	*number = known + 1;
	return 0;
}

void attribute_set_free(struct attribute_set *set)
{
	byte_buffer_free(&set->bytes);
	free(set->items);
	hash_index_free(&set->index);
	*set = (struct attribute_set){};
}

#define FRAME_SET_BITS_MIN 10
#define FRAME_SET_BITS_MAX 30

void frame_set_free(struct frame_set *set)
{
	free(set->frames);
	free(set->uses);
	memset(set, 0, sizeof(*set));
}

/* Linear probing: the table doubles when it is half full, so every search ends at a free slot. */
static void frame_set_insert(struct frame_set *set, u64 frame, u8 uses)
{
	u32 mask = (1U << set->bits) - 1;
	u32 slot = (u32)((frame * 0x9e3779b97f4a7c15ULL) >> (64 - set->bits));

	while (set->frames[slot] && set->frames[slot] != frame)
		slot = (slot + 1) & mask;
	set->count += !set->frames[slot];
	set->frames[slot] = frame;
	set->uses[slot] |= uses;
}

static int frame_set_grow(struct frame_set *set)
{
	struct frame_set larger = {.bits = set->bits ? set->bits + 1 : FRAME_SET_BITS_MIN};

	if (larger.bits > FRAME_SET_BITS_MAX)
		return -ENOMEM;
	larger.frames = calloc(1UL << larger.bits, sizeof(*larger.frames));
	larger.uses = calloc(1UL << larger.bits, sizeof(*larger.uses));
	if (!larger.frames || !larger.uses) {
		frame_set_free(&larger);
		return -ENOMEM;
	}
	for (u32 i = 0; set->frames && i < 1U << set->bits; i++)
		if (set->frames[i])
			frame_set_insert(&larger, set->frames[i], set->uses[i]);
	frame_set_free(set);
	*set = larger;
	return 0;
}

int frame_set_add(struct frame_set *set, u64 frame, u32 uses)
{
	if (!frame)
		return 0;
	if (!set->frames || set->count >= 1U << (set->bits - 1)) {
		int err = frame_set_grow(set);

		if (err)
			return err;
	}
	frame_set_insert(set, frame, (u8)uses);
	return 0;
}

int frame_set_each(const struct frame_set *set,
		   int (*each)(void *arg, u64 frame, bool return_address), void *arg)
{
	int result = 0;

	for (u32 i = 0; set->frames && !result && i < 1U << set->bits; i++) {
		if (set->uses[i] & FRAME_EXACT)
			result = each(arg, set->frames[i], false);
		if (!result && set->uses[i] & FRAME_RETURN_ADDRESS)
			result = each(arg, set->frames[i], true);
	}
	return result;
}

static u32 hash_stack(const struct trace_stack *stack)
{
	return hash_end(hash_words(stack->flags, stack->frames, stack->depth * sizeof(u64)));
}

static bool is_same_stack(const void *entries, u32 index, const void *key)
{
	const struct stack_set_entry *entry = &((const struct stack_set_entry *)entries)[index];
	const struct trace_stack *stack = key;

	return entry->depth == stack->depth && entry->flags == stack->flags &&
	       !memcmp(entry->frames, stack->frames, stack->depth * sizeof(u64));
}

bool stack_set_find(const struct stack_set *set, const struct trace_stack *stack, u32 *index)
{
	u32 found =
		hash_index_find(&set->index, hash_stack(stack), is_same_stack, set->entries, stack);

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
	if (!frames || hash_index_add(&set->index, hash_stack(stack), count)) {
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
