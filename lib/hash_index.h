/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds things of an array by what they are: a table from hash to index, open addressing with
 * linear probing, at most half full. The array and the comparison are the owner's, so that a lookup
 * costs one or two cache lines however large the array is.
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
	u32 place; /* index + 1; 0 = free */
};

/* All zero: empty. */
struct hash_index {
	struct hash_slot *slots;
	u32 bits;
	u32 count;
};

/* Whether thing `index` is the one of `key`. */
typedef bool (*hash_index_is)(const void *things, u32 index, const void *key);

/* HASH_INDEX_NONE if it is not there. */
u32 hash_index_find(const struct hash_index *table, u32 hash, hash_index_is is, const void *things,
		    const void *key);
/* It must not be there yet. -ENOMEM. */
int hash_index_add(struct hash_index *table, u32 hash, u32 index);
/* Nothing is in it any more; it keeps its memory. */
void hash_index_clear(struct hash_index *table);
void hash_index_free(struct hash_index *table);

/* Who has many things to find may say so in advance: first of all of them, then look at what the
 * slots say, so that their cache misses overlap. */
static inline void hash_index_expect(const struct hash_index *table, u32 hash)
{
	if (table->slots)
		__builtin_prefetch(&table->slots[hash & ((1U << table->bits) - 1)]);
}

/* The thing that a search for `hash` will look at first, or HASH_INDEX_NONE. */
static inline u32 hash_index_first(const struct hash_index *table, u32 hash)
{
	u32 place = table->slots ? table->slots[hash & ((1U << table->bits) - 1)].place : 0;

	return place ? place - 1 : HASH_INDEX_NONE;
}

/* A hash of words, one after the other, beginning with 0; hash_end() makes the table's hash of it.
 */
static inline u64 hash_word(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* `bytes` is a multiple of 8. */
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
