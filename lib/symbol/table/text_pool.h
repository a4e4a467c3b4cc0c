/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts in one buffer, each stored once with its NUL and named by its offset. Offset 0 is the empty
 * text. */
#ifndef LIB_SYMBOL_TEXT_POOL_H
#define LIB_SYMBOL_TEXT_POOL_H

#include "hash_index.h"
#include "scalar.h"

#define TEXT_POOL_BYTES_MAX (1U << 30)

/* All zero = no text and no memory. */
struct text_pool {
	char *data;
	u32 bytes, room;
	struct hash_index index; /* of offsets */
};

/* Starts a pool with the empty text. 0 or -ENOMEM. */
int text_pool_begin(struct text_pool *pool);

/* Returns the buffer, for free(), and leaves the pool all zero. */
char *text_pool_take(struct text_pool *pool);

/* Sets the offset of a text, which is added if it is new. 0, or -ENOMEM, also if the pool is full.
 */
int text_pool_put(struct text_pool *pool, const char *text, u32 *offset);

#endif
