/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts behind one another, each with its NUL and only once: a text is its offset. The first is the
 * empty one. */
#ifndef LIB_SYMBOL_TEXT_POOL_H
#define LIB_SYMBOL_TEXT_POOL_H

#include "hash_index.h"
#include "scalar.h"

#define TEXT_POOL_BYTES_MAX (1U << 30)

/* All zero: without memory, and without a text. */
struct text_pool {
	char *data;
	u32 bytes, room;
	struct hash_index index; /* of offsets */
};

/* With the empty text. -ENOMEM. */
int text_pool_begin(struct text_pool *pool);

/* All that was put, for free(); the pool is without memory then. */
char *text_pool_take(struct text_pool *pool);

/* -ENOMEM, also where the pool is full. */
int text_pool_put(struct text_pool *pool, const char *text, u32 *offset);

#endif
