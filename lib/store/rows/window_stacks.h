/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of one window: their hashes, and rows for each stack that was not sent yet today (the
 * stack, its frames, and the objects of these frames). A stack is sent together with its frames and
 * objects, so a day's partition is complete by itself.
 *
 * A frame without a symbol is sent without a name. A machine that has the object's debug file can
 * add the name in the store later (stackmap store symbolize).
 */
#ifndef LIB_STORE_WINDOW_STACKS_H
#define LIB_STORE_WINDOW_STACKS_H

#include <stdbool.h>

#include "hash_index.h"
#include "report/event/stack_hash.h"
#include "store/rows/batch.h"
#include "store/rows/stack_memo.h"

/*
 * The cache of keys that the machine has sent to its store on this day, so that each key is sent
 * once. Memory is bounded: a full cache is cleared, and all keys are sent again, which costs bytes
 * and is correct.
 */

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

struct window_stacks;

/* The day of the rows (days since the epoch), the cache of keys sent on that day, the cache of
 * stack hashes from earlier windows, and the batch that gets the rows. All must outlive the stacks.
 */
struct stack_rows {
	u16 day;
	struct sent_cache *sent;
	struct stack_memo *memo;
	struct batch *batch;
};

int window_stacks_create(struct trace_reader *reader, const struct stack_rows *rows,
			 struct window_stacks **out);
void window_stacks_free(struct window_stacks **stacks);

/* Hashes an event's stack, and adds its rows to the batch if they were not sent before. -ENOMEM. */
int window_stacks_add(struct window_stacks *stacks, const struct trace_event *event,
		      struct stack_hash *hash);

#endif
