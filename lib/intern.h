/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries that exist once for each key of a few words: frames, nodes of a tree, threads. An entry
 * never moves, so its address is its identity, and can be part of another key.
 */
#ifndef LIB_INTERN_H
#define LIB_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"

#define INTERN_WORDS 3

/* The key of an entry, which is the first member of every entry. */
struct intern_key {
	u64 word[INTERN_WORDS]; /* words of the key; unused words are 0 */
};

struct intern {
	struct hash_index index;
	struct arena arena;
	size_t entry_bytes;
	void **entries; /* addresses of the entries, in the order of creation */
	u32 count, room;
};

#define INTERN(type)                                                                               \
	(struct intern)                                                                            \
	{                                                                                          \
		.arena.limit = UINT64_MAX, .entry_bytes = sizeof(type)                             \
	}

/* An entry that only gives its key a number. */
struct intern_number {
	struct intern_key key;
	u32 number; /* number of the key + 1; 0: not set yet */
};

/* Frees all entries; the table can be used again. */
void intern_clear(struct intern *table);

/*
 * Returns the entry with this key. A new key gets an entry whose bytes after the key are 0. NULL:
 * no memory.
 */
void *intern_find_or_add_entry(struct intern *table, const struct intern_key *key);

/*
 * Prefetches for later lookups, in steps 0, 1 and 2: call each step for all keys of a batch before
 * the next step, so that their cache misses overlap.
 */
#define INTERN_STEPS 3
void intern_prefetch_entry(const struct intern *table, const struct intern_key *key, u32 step);

/* Drops the hash table: the entries stay, but can no longer be found by key. */
void intern_free_index(struct intern *table);

/* A set of texts, with one copy of each. */
struct text_set {
	struct hash_index index;
	struct arena arena;
	const char **texts;
	u32 count, room;
};

#define TEXT_SET                                                                                   \
	(struct text_set)                                                                          \
	{                                                                                          \
		.arena.limit = UINT64_MAX                                                          \
	}

void text_set_clear(struct text_set *set);

/* Returns the index of a text in `texts`; HASH_INDEX_NONE: not found. */
u32 text_set_find(const struct text_set *set, const char *text);
/* Returns the index of a text in `texts`; a new text is added. HASH_INDEX_NONE: no memory. */
u32 text_set_find_or_add_number(struct text_set *set, const char *text);
/* Returns the set's copy of a text; a new text is added. NULL: no memory. */
const char *text_set_intern(struct text_set *set, const char *text);

static inline u64 intern_word_of_address(const void *entry)
{
	return (uintptr_t)entry;
}

#define TEXT_POOL_BYTES_MAX (1U << 30)

/* Texts in one buffer, each stored once with its NUL and named by its offset. Offset 0 is the empty
 * text. All zero = no text and no memory. */
struct text_pool {
	char *data;
	u32 bytes, room;
	struct hash_index index; /* finds a text's offset in `data` by the text */
};

/* Starts a pool with the empty text. 0 or -ENOMEM. */
int text_pool_init(struct text_pool *pool);

/* Returns the buffer of all texts, for the caller to free, and leaves the pool all zero. */
char *text_pool_take(struct text_pool *pool);

/* Sets the offset of a text, which is added if it is new. 0, or -ENOMEM, also if the pool is full.
 */
int text_pool_put(struct text_pool *pool, const char *text, u32 *offset);

#endif
