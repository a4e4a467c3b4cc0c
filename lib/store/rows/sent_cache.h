/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache of keys that the machine has sent to its store on this day, so that each key is sent
 * once. Memory is bounded: a full cache is cleared, and all keys are sent again, which costs bytes
 * and is correct.
 */
#ifndef LIB_STORE_SENT_CACHE_H
#define LIB_STORE_SENT_CACHE_H

#include <stdbool.h>

#include "hash_index.h"

struct sent_key {
	u64 word[3];
};

struct sent_cache {
	struct hash_index index;
	struct sent_key *keys;
	u32 count, room;
	u32 most;  /* keys */
	u64 times; /* number of times the cache was cleared */
};

/* Memory of one key. */
#define SENT_KEY_BYTES (2 * sizeof(struct sent_key) + 4 * sizeof(struct hash_slot))

bool sent_cache_has(const struct sent_cache *memory, const struct sent_key *key);
/* Adds a key that is not in the cache. -ENOMEM. */
int sent_cache_add(struct sent_cache *memory, const struct sent_key *key);
void sent_cache_clear(struct sent_cache *memory);
void sent_cache_free(struct sent_cache *memory);

#endif
