/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chunks are filled one after the other and freed together; a piece larger than a chunk gets its
 * own chunk.
 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (256U << 10)
#define ALIGNMENT 8
#define ARRAY_ROOM_MIN 16U

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t room;
	u64 data[];
};

bool arena_charge_other_memory(struct arena *arena, u64 bytes)
{
	if (bytes > arena->limit - arena->taken)
		return false;
	arena->taken += bytes;
	return true;
}

void arena_uncharge_other_memory(struct arena *arena, u64 bytes)
{
	arena->taken -= bytes;
}

static struct arena_chunk *add_chunk(struct arena *arena, size_t bytes)
{
	size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	struct arena_chunk *chunk;

	if (!arena_charge_other_memory(arena, room))
		return NULL;
	chunk = malloc(sizeof(*chunk) + room);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunk;
	chunk->used = 0;
	chunk->room = room;
	arena->chunk = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	struct arena_chunk *chunk = arena->chunk;
	void *piece;

	if (bytes > arena->limit)
		return NULL;
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!chunk || chunk->room - chunk->used < bytes)
		chunk = add_chunk(arena, bytes);
	if (!chunk)
		return NULL;
	piece = (u8 *)chunk->data + chunk->used;
	chunk->used += bytes;
	return piece;
}

char *arena_string(struct arena *arena, const char *string)
{
	size_t bytes = strlen(string) + 1;
	char *copy = arena_alloc(arena, bytes);

	return copy ? memcpy(copy, string, bytes) : NULL;
}

void arena_free(struct arena *arena)
{
	struct arena_chunk *next;

	for (; arena->chunk; arena->chunk = next) {
		next = arena->chunk->next;
		free(arena->chunk);
	}
	arena->taken = 0;
}

static bool array_grow(struct arena *arena, struct arena_array *array, size_t item_bytes)
{
	u32 room = array->room ? array->room * 2 : ARRAY_ROOM_MIN;
	void *items;

	if (array->room > UINT32_MAX / 2 ||
	    !arena_charge_other_memory(arena, (u64)(room - array->room) * item_bytes))
		return false;
	items = reallocarray(array->items, room, item_bytes);
	if (!items)
		return false;
	array->items = items;
	array->room = room;
	return true;
}

void *arena_array_add(struct arena *arena, struct arena_array *array, size_t item_bytes)
{
	if (array->count == array->room && !array_grow(arena, array, item_bytes))
		return NULL;
	return memset((u8 *)array->items + item_bytes * array->count++, 0, item_bytes);
}

void arena_array_free(struct arena_array *array)
{
	free(array->items);
	memset(array, 0, sizeof(*array));
}
