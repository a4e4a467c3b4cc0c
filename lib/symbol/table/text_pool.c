/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "text_pool.h"

#include <errno.h>
#include <string.h>

#include "array.h"

static bool is_text(const void *data, u32 offset, const void *text)
{
	return strcmp((const char *)data + offset, text) == 0;
}

int text_pool_put(struct text_pool *pool, const char *text, u32 *offset)
{
	u32 hash = hash_text(text);
	u32 found = hash_index_find(&pool->index, hash, is_text, pool->data, text);
	size_t bytes = strlen(text) + 1;

	if (found == HASH_INDEX_NONE) {
		if (bytes > TEXT_POOL_BYTES_MAX - pool->bytes ||
		    array_make_rooms(pool->data, pool->bytes + bytes, pool->room) ||
		    hash_index_add(&pool->index, hash, pool->bytes))
			return -ENOMEM;
		found = pool->bytes;
		memcpy(pool->data + found, text, bytes);
		pool->bytes += bytes;
	}
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
