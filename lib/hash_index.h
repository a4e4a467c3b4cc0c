/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds items of an array by a key: a table from hash to index, open addressing with linear
 * probing, at most half full. The caller has the array and the comparison; a lookup costs one or
 * two cache lines however large the array is.
 */
#ifndef LIB_HASH_INDEX_H
#define LIB_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scalar.h"

#define HASH_INDEX_NONE UINT32_MAX

struct hash_slot {
	u32 hash;
	u32 place; /* index of the item + 1; 0 = the slot is free */
};

/* A table from hash to index. All zero: empty. */
struct hash_index {
	struct hash_slot *slots;
	u32 bits;
	u32 count;
};

/* A function that compares: true if item `index` has this key. */
typedef bool (*hash_index_is)(const void *things, u32 index, const void *key);

/* Returns the index of the item with a key, or HASH_INDEX_NONE. */
u32 hash_index_find(const struct hash_index *table, u32 hash, hash_index_is is, const void *things,
		    const void *key);
/* Adds an item that the table does not have. -ENOMEM. */
int hash_index_add(struct hash_index *table, u32 hash, u32 index);
/* Empties the table and keeps its memory. */
void hash_index_clear(struct hash_index *table);
void hash_index_free(struct hash_index *table);

/*
 * Prefetches the slot of a later lookup. Call it for all items of a batch, then look at the slots,
 * so that their cache misses overlap.
 */
static inline void hash_index_prefetch_slot(const struct hash_index *table, u32 hash)
{
	if (table->slots)
		__builtin_prefetch(&table->slots[hash & ((1U << table->bits) - 1)]);
}

/* Returns the index of the item that a search for `hash` looks at first, or HASH_INDEX_NONE. */
static inline u32 hash_index_first_candidate(const struct hash_index *table, u32 hash)
{
	u32 place = table->slots ? table->slots[hash & ((1U << table->bits) - 1)].place : 0;

	return place ? place - 1 : HASH_INDEX_NONE;
}

/* Hashes one word after the other: `hash` is 0 for the first word, then the result for the word
 * before; hash_end() gives the table's hash. */
static inline u64 hash_word(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* Hashes `bytes` bytes, a multiple of 8, as words. */
static inline u64 hash_words(u64 hash, const void *words, size_t bytes)
{
	u64 word;

	for (size_t i = 0; i < bytes; i += sizeof(word)) {
		memcpy(&word, (const char *)words + i, sizeof(word));
		hash = hash_word(hash, word);
	}
	return hash;
}

static inline u32 hash_end(u64 hash)
{
	return (u32)(hash * 0xc2b2ae3d27d4eb4fULL >> 32);
}

u32 hash_text(const char *text);

#endif
