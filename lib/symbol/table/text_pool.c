/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "text_pool.h"

#include <errno.h>
#include <string.h>

#include "array.h"

static int make_room(struct text_pool *pool, size_t bytes)
{
	if (bytes > TEXT_POOL_BYTES_MAX - pool->bytes)
		return -ENOMEM;
	return array_make_rooms(pool->data, pool->bytes + bytes, pool->room);
}

static bool is_text(const void *data, u32 offset, const void *text)
{
	return strcmp((const char *)data + offset, text) == 0;
}

static int add(struct text_pool *pool, const char *text, u32 hash, u32 *offset)
{
	size_t bytes = strlen(text) + 1;

	if (make_room(pool, bytes) || hash_index_add(&pool->index, hash, pool->bytes))
		return -ENOMEM;
	memcpy(pool->data + pool->bytes, text, bytes);
	*offset = pool->bytes;
	pool->bytes += bytes;
	return 0;
}

int text_pool_put(struct text_pool *pool, const char *text, u32 *offset)
{
	u32 hash = hash_text(text);
	u32 found = hash_index_find(&pool->index, hash, is_text, pool->data, text);

	if (found == HASH_INDEX_NONE)
		return add(pool, text, hash, offset);
	*offset = found;
	return 0;
}

int text_pool_begin(struct text_pool *pool)
{
	u32 empty;

	*pool = (struct text_pool){};
	return text_pool_put(pool, "", &empty);
}

char *text_pool_take(struct text_pool *pool)
{
	char *data = pool->data;

	hash_index_free(&pool->index);
	*pool = (struct text_pool){};
	return data;
}
