/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two arrays that grow together, and a hash index of keys that doubles at half full. */
#include "trace/block/frame_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 1024U
#define ROOM_MAX (1U << 28)
#define INDEX_BITS_MIN 10

static bool may_grow(const struct frame_dictionary *dictionary, u32 room)
{
	return !dictionary->limit ||
	       arena_take(dictionary->limit, (room - dictionary->room) *
						     (sizeof(u64) + sizeof(struct key_successors)));
}

static int grow(struct frame_dictionary *dictionary)
{
	u32 room = dictionary->room ? dictionary->room * 2 : ROOM_MIN;
	struct key_successors *successors;
	u64 *frames;

	if (room > ROOM_MAX || !may_grow(dictionary, room))
		return -ENOMEM;
	frames = reallocarray(dictionary->frames, room, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	dictionary->frames = frames;
	successors = reallocarray(dictionary->order.successors, room, sizeof(*successors));
	if (!successors)
		return -ENOMEM;
	dictionary->order.successors = successors;
	dictionary->room = room;
	return 0;
}

int frame_dictionary_init(struct frame_dictionary *dictionary)
{
	memset(dictionary, 0, sizeof(*dictionary));
	if (frame_dictionary_offer(dictionary, 0)) {
		frame_dictionary_free(dictionary);
		return -ENOMEM;
	}
	key_order_start(&dictionary->order, dictionary->order.successors);
	key_order_encode(&dictionary->order, FRAME_KEY_ROOT);
	return 0;
}

int frame_dictionary_offer(struct frame_dictionary *dictionary, u64 frame)
{
	if (dictionary->order.keys == dictionary->room && grow(dictionary))
		return -ENOMEM;
	dictionary->frames[dictionary->order.keys] = frame;
	return 0;
}

void frame_dictionary_free(struct frame_dictionary *dictionary)
{
	free(dictionary->frames);
	free(dictionary->order.successors);
	memset(dictionary, 0, sizeof(*dictionary));
}

static u32 slot_of(const struct frame_index *index, const struct frame_dictionary *dictionary,
		   u64 frame)
{
	u32 slot = (u32)((frame * 0x9e3779b97f4a7c15ULL) >> (64 - index->bits));

	while (index->keys[slot] && dictionary->frames[index->keys[slot]] != frame)
		slot = (slot + 1) & ((1U << index->bits) - 1);
	return slot;
}

static int index_grow(struct frame_index *index, const struct frame_dictionary *dictionary)
{
	struct frame_index larger = {.bits = index->keys ? index->bits + 1 : INDEX_BITS_MIN};

	larger.keys = calloc(1UL << larger.bits, sizeof(*larger.keys));
	if (!larger.keys)
		return -ENOMEM;
	for (u32 i = 0; index->keys && i < 1U << index->bits; i++)
		if (index->keys[i])
			larger.keys[slot_of(&larger, dictionary,
					    dictionary->frames[index->keys[i]])] = index->keys[i];
	larger.count = index->count;
	free(index->keys);
	*index = larger;
	return 0;
}

u32 frame_index_find(const struct frame_index *index, const struct frame_dictionary *dictionary,
		     u64 frame)
{
	return index->keys ? index->keys[slot_of(index, dictionary, frame)] : FRAME_KEY_ROOT;
}

int frame_index_add(struct frame_index *index, const struct frame_dictionary *dictionary, u32 key)
{
	bool is_full = !index->keys || index->count >= 1U << (index->bits - 1);

	if (is_full && index_grow(index, dictionary))
		return -ENOMEM;
	index->keys[slot_of(index, dictionary, dictionary->frames[key])] = key;
	index->count++;
	return 0;
}

void frame_index_free(struct frame_index *index)
{
	free(index->keys);
	memset(index, 0, sizeof(*index));
}
