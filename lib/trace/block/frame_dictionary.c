/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two arrays that grow together. */
#include "trace/block/frame_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 1024U
#define ROOM_MAX (1U << 28)

static int grow(struct frame_dictionary *dictionary)
{
	u32 room = dictionary->room ? dictionary->room * 2 : ROOM_MIN;
	struct key_successors *successors;
	u64 *frames;

	if (room > ROOM_MAX ||
	    !(!dictionary->limit ||
	      arena_take(dictionary->limit, (room - dictionary->room) *
						    (sizeof(u64) + sizeof(struct key_successors)))))
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

static u32 frame_hash(u64 frame)
{
	return hash_end(hash_word(0, frame));
}

static bool is_frame(const void *frames, u32 key, const void *frame)
{
	return ((const u64 *)frames)[key] == *(const u64 *)frame;
}

u32 frame_index_find(const struct hash_index *index, const struct frame_dictionary *dictionary,
		     u64 frame)
{
	u32 key = hash_index_find(index, frame_hash(frame), is_frame, dictionary->frames, &frame);

	return key == HASH_INDEX_NONE ? FRAME_KEY_ROOT : key;
}

int frame_index_add(struct hash_index *index, u64 frame, u32 key)
{
	return hash_index_add(index, frame_hash(frame), key);
}
