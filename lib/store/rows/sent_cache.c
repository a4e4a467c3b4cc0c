/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/rows/sent_cache.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

static bool is_key(const void *keys, u32 index, const void *key)
{
	return !memcmp(&((const struct sent_key *)keys)[index], key, sizeof(struct sent_key));
}

static u32 hash_key(const struct sent_key *key)
{
	return hash_end(hash_words(0, key, sizeof(*key)));
}

bool sent_cache_has(const struct sent_cache *memory, const struct sent_key *key)
{
	return hash_index_find(&memory->index, hash_key(key), is_key, memory->keys, key) !=
	       HASH_INDEX_NONE;
}

int sent_cache_add(struct sent_cache *memory, const struct sent_key *key)
{
	int err;

	if (memory->count == memory->most)
		sent_cache_clear(memory);
	err = array_make_room(memory->keys, memory->count, memory->room);
	err = err ?: hash_index_add(&memory->index, hash_key(key), memory->count);
	if (!err)
		memory->keys[memory->count++] = *key;
	return err;
}

void sent_cache_clear(struct sent_cache *memory)
{
	hash_index_clear(&memory->index);
	memory->count = 0;
	memory->times++;
}

void sent_cache_free(struct sent_cache *memory)
{
	hash_index_free(&memory->index);
	free(memory->keys);
	*memory = (struct sent_cache){};
}
