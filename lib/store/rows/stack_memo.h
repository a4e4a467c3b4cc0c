/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache of stack hashes from earlier windows of one machine. Hashing a stack anew costs as much
 * as all other work on its events.
 *
 * A side (kernel or user part of a stack) is found by its frames as the recording has them: mapping
 * numbers and kernel addresses. The cache checks the mappings and modules of each window and is
 * cleared when one has changed. Frames that are identified by name are never cached. Memory is
 * bounded: a full cache is cleared.
 */
#ifndef LIB_STORE_STACK_MEMO_H
#define LIB_STORE_STACK_MEMO_H

#include "hash_index.h"
#include "report/event/stack_hash.h"

#define STACK_MEMO_NONE UINT32_MAX

struct memo_side {
	u32 first, depth; /* range of its frames in `frames` */
	struct stack_hash hash;
};

/* The parts of a whole stack. Ends are compared by address: report/event/stack_end.h. */
struct memo_key {
	struct frame_identity leaf;
	const char *kernel_end, *user_end;
	u32 kernel, user; /* sides; STACK_MEMO_NONE: none */
	u64 whose;	  /* enum stack_leaf */
};

struct memo_stack {
	struct memo_key key;
	struct stack_hash hash;
	u64 sent; /* for the owner's use; 0 at first */
};

/* An empty cache is all zero, except `most`. */
struct stack_memo {
	u64 most; /* bytes */
	u64 modules;
	struct hash_index side_index, stack_index;
	struct memo_side *sides;
	struct memo_stack *stacks;
	u64 *frames;
	u64 *mappings; /* by number: hash of the mapping */
	u32 side_count, side_room, stack_count, stack_room, frame_count, frame_room, mapping_room;
};

/* Begins a window. Side numbers that were returned before become invalid. -ENOMEM. */
int stack_memo_begin(struct stack_memo *memo, struct trace_reader *reader);
void stack_memo_free(struct stack_memo *memo);

/* Returns the number of a side, or STACK_MEMO_NONE. */
u32 stack_memo_side(const struct stack_memo *memo, const struct trace_stack *stack);
/* Adds a side that is not cached. Without memory the side stays uncached. */
u32 stack_memo_add_side(struct stack_memo *memo, const struct trace_stack *stack,
			const struct stack_hash *hash);

/* Returns NULL if the stack is not cached. The pointer is valid until the next stack is added. */
struct memo_stack *stack_memo_stack(struct stack_memo *memo, const struct memo_key *key);
void stack_memo_add_stack(struct stack_memo *memo, const struct memo_stack *stack);

#endif
