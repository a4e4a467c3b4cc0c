/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of one window: their hashes, and rows for each stack that was not yet sent on the same
 * day (the stack, its frames, and the objects of these frames). A stack is sent together with its
 * frames and objects, so each day's partition is complete without other days.
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

/*
 * The cache of stack hashes from earlier windows of one machine. Computing the hash of a stack
 * costs as much as all other work on its events.
 *
 * A side (kernel or user part of a stack) is found in the cache by its frames as the recording has
 * them: mapping numbers and kernel addresses. The cache compares the mappings and modules of each
 * window with those of earlier windows and is cleared if one has changed. Frames that are
 * identified by name are never cached. Memory is bounded: a full cache is cleared.
 */

#define STACK_MEMO_NONE UINT32_MAX

struct memo_part {
	u32 first, depth; /* position and number of the part's frames in `frames` */
	struct stack_hash hash;
};

/*
 * The parts of a whole stack. The ends of stacks are compared by the address of their texts:
 * report/event/stack_end.h.
 */
struct memo_key {
	struct frame_identity leaf;
	const char *kernel_end, *user_end;
	u32 kernel, user; /* number of the kernel side and of the user side; STACK_MEMO_NONE: the
			     stack lacks this side */
	u64 whose;	  /* the part that the leaf belongs to: enum stack_leaf */
};

struct memo_stack {
	struct memo_key key;
	struct stack_hash hash;
	u64 sent; /* mark of the cache's owner for a stack whose rows were sent; 0: they were never
		     sent */
};

/* An empty cache is all zero, except for `most`. */
struct stack_memo {
	u64 most; /* limit of the cache's memory, bytes */
	u64 modules;
	struct hash_index side_index, stack_index;
	struct memo_part *sides;
	struct memo_stack *stacks;
	u64 *frames;
	u64 *mappings; /* hash of each mapping, by mapping number */
	u32 side_count, side_room, stack_count, stack_room, frame_count, frame_room, mapping_room;
};

/*
 * Prepares the cache for a window. Side numbers that were returned before become invalid. -ENOMEM.
 */
int stack_memo_prepare_for_window(struct stack_memo *memo, struct trace_reader *reader);
void stack_memo_free(struct stack_memo *memo);

/* Returns the number of the side with these frames, or STACK_MEMO_NONE if the side is not cached.
 */
u32 stack_memo_find_part(const struct stack_memo *memo, const struct trace_stack *stack);
/*
 * Adds a side that is not cached, and returns its number. If memory is short, the side is not
 * added: STACK_MEMO_NONE.
 */
u32 stack_memo_add_part(struct stack_memo *memo, const struct trace_stack *stack,
			const struct stack_hash *hash);

/*
 * Looks a stack up. Returns NULL if the stack is not cached. The pointer is valid until the next
 * stack is added.
 */
struct memo_stack *stack_memo_find_stack(struct stack_memo *memo, const struct memo_key *key);
void stack_memo_add_stack(struct stack_memo *memo, const struct memo_stack *stack);

/*
 * The cache of keys that the machine has sent to its store on this day, so that each key is sent
 * once. Memory is bounded: a full cache is cleared, and all keys are sent again, which costs bytes
 * but gives the same result.
 */

struct sent_key {
	u64 word[3];
};

struct sent_cache {
	struct hash_index index;
	struct sent_key *keys;
	u32 count, room;
	u32 most;  /* limit for the number of keys */
	u64 times; /* number of times that the cache was cleared */
};

/* Bytes of memory that one key takes. */
#define SENT_KEY_BYTES (2 * sizeof(struct sent_key) + 4 * sizeof(struct hash_slot))

bool sent_cache_has(const struct sent_cache *memory, const struct sent_key *key);
/* Adds a key that is not in the cache. -ENOMEM. */
int sent_cache_add(struct sent_cache *memory, const struct sent_key *key);
void sent_cache_clear(struct sent_cache *memory);
void sent_cache_free(struct sent_cache *memory);

struct window_stacks;

/*
 * The inputs of stack rows: their day (days since the epoch), the cache of keys sent on
 * that day, the cache of stack hashes from earlier windows, and the batch that gets the rows. All
 * of them must outlive the stacks.
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
