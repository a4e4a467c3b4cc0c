/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Things that exist once for each key of a few words: frames, nodes of a tree, threads. An entry
 * never moves, so its address is its identity, and can be part of another key.
 */
#ifndef LIB_INTERN_H
#define LIB_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"

#define INTERN_WORDS 3

/* The first member of every entry. */
struct intern_key {
	u64 word[INTERN_WORDS]; /* unused ones are 0 */
};

struct intern {
	struct hash_index index;
	struct arena arena;
	size_t entry_bytes;
	void **entries; /* in the order of their making */
	u32 count, room;
};

#define INTERN(type)                                                                               \
	(struct intern)                                                                            \
	{                                                                                          \
		.arena.limit = UINT64_MAX, .entry_bytes = sizeof(type)                             \
	}

/* Leaves it as it was made, without entries. */
void intern_clear(struct intern *table);

/* The entry of this key, made if there is none: zero behind the key. NULL without memory. */
void *intern_entry(struct intern *table, const struct intern_key *key);

/* Who has many keys to look up may say so in advance, with steps 0, 1 and 2, each of all of them
 * before the next: their cache misses overlap then. */
#define INTERN_STEPS 3
void intern_expect(const struct intern *table, const struct intern_key *key, u32 step);

/* The entries stay, but no key leads to them any more. */
void intern_forget_keys(struct intern *table);

/* Of a text, its only copy. */
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

/* Its place in `texts`, or HASH_INDEX_NONE: it is not there. */
u32 text_set_find(const struct text_set *set, const char *text);
/* The same, put there if it is not; HASH_INDEX_NONE without memory. */
u32 text_set_number(struct text_set *set, const char *text);
/* NULL without memory. */
const char *text_set_intern(struct text_set *set, const char *text);

static inline u64 intern_address(const void *entry)
{
	return (uintptr_t)entry;
}

#endif
