/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a machine has sent to its store on this day, by key, so that it sends it once. Its memory is
 * bounded: when it is full it forgets all, and all is sent again, which costs bytes and is correct.
 */
#ifndef LIB_STORE_SENT_MEMORY_H
#define LIB_STORE_SENT_MEMORY_H

#include <stdbool.h>

#include "hash_index.h"

struct sent_key {
	u64 word[3];
};

struct sent_memory {
	struct hash_index index;
	struct sent_key *keys;
	u32 count, room;
	u32 most;  /* keys */
	u64 times; /* that it has forgotten */
};

/* Bytes that so many keys may take. */
#define SENT_KEY_BYTES (2 * sizeof(struct sent_key) + 4 * sizeof(struct hash_slot))

bool sent_memory_has(const struct sent_memory *memory, const struct sent_key *key);
/* One that it has not. -ENOMEM. */
int sent_memory_add(struct sent_memory *memory, const struct sent_key *key);
void sent_memory_forget(struct sent_memory *memory);
void sent_memory_free(struct sent_memory *memory);

#endif
