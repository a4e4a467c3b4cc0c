/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory in pieces that are freed together. The limit keeps a small hostile file from unfolding
 * into more memory than any honest recording needs. Other memory that the same file causes is
 * counted against the limit, too.
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

struct arena_chunk;

struct arena {
	/* The chunk that is being filled; its `next` leads to the older chunks. */
	struct arena_chunk *chunk;
	u64 limit;
	u64 taken; /* bytes taken so far, at most `limit` */
};

/*
 * Counts memory from another allocator against the limit, until arena_uncharge_other_memory().
 * False: the limit would be exceeded.
 */
bool arena_charge_other_memory(struct arena *arena, u64 bytes);
void arena_uncharge_other_memory(struct arena *arena, u64 bytes);

/* Allocates memory that is aligned for any type of the library. NULL: the limit would be exceeded,
 * or no memory. */
void *arena_alloc(struct arena *arena, size_t bytes);
char *arena_string(struct arena *arena, const char *string);
void arena_free(struct arena *arena);

/* A growing array whose memory counts against the limit of an arena. */
struct arena_array {
	void *items;
	u32 count;
	u32 room;
};

/* Appends an item of zero bytes to the array and returns it; NULL: no memory. */
void *arena_array_add(struct arena *arena, struct arena_array *array, size_t item_bytes);
void arena_array_free(struct arena_array *array);

#endif
