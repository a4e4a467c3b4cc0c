/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory in pieces that are freed together. It has a limit, so that a small hostile file cannot
 * unfold into more memory than any honest recording needs. What others allocate because of the same
 * file is counted against the limit, too.
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunk; /* the one in use; older ones hang behind it */
	u64 limit;
	u64 taken; /* <= limit */
};

/* Counts memory of somebody else against the limit, until it is given back. False: that is too
 * much. */
bool arena_take(struct arena *arena, u64 bytes);
void arena_give(struct arena *arena, u64 bytes);

/* Memory aligned for any of the library's types. NULL beyond the limit or without memory. */
void *arena_alloc(struct arena *arena, size_t bytes);
char *arena_string(struct arena *arena, const char *string);
void arena_free(struct arena *arena);

/* An array that grows, its memory counted against the limit of an arena. */
struct arena_array {
	void *items;
	u32 count;
	u32 room;
};

/* A zeroed item at the end, or NULL. */
void *arena_array_add(struct arena *arena, struct arena_array *array, size_t item_bytes);
void arena_array_free(struct arena_array *array);

#endif
