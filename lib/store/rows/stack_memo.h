/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hashes of stacks that were met in earlier windows of one machine. To hash a stack anew costs as
 * much as all else that is done with its events.
 *
 * A side is known by its frames as the recording has them, numbers of mappings and addresses of the
 * kernel, as long as these mean the same: the memo looks at the mappings and modules of each
 * window, and forgets all when one is another. Frames that go by names are not in it. Its memory is
 * bounded: when it is full, it forgets all.
 */
#ifndef LIB_STORE_STACK_MEMO_H
#define LIB_STORE_STACK_MEMO_H

#include "hash_index.h"
#include "report/event/stack_hash.h"

#define STACK_MEMO_NONE UINT32_MAX

struct memo_side {
	u32 first, depth; /* of its frames in `frames` */
	struct stack_hash hash;
};

/* What a whole stack is made of. Ends are compared by address: report/event/stack_end.h. */
struct memo_key {
	struct frame_identity leaf;
	const char *kernel_end, *user_end;
	u32 kernel, user; /* sides; STACK_MEMO_NONE: none */
	u64 whose;	  /* enum stack_leaf */
};

struct memo_stack {
	struct memo_key key;
	struct stack_hash hash;
	u64 sent; /* what the owner keeps of it; 0 at first */
};

/* All zero but for `most`: empty. */
struct stack_memo {
	u64 most; /* bytes */
	u64 modules;
	struct hash_index side_index, stack_index;
	struct memo_side *sides;
	struct memo_stack *stacks;
	u64 *frames;
	u64 *mappings; /* by number: a hash of what it is */
	u32 side_count, side_room, stack_count, stack_room, frame_count, frame_room, mapping_room;
};

/* A window comes. Numbers of sides that were given out before are not valid any more. -ENOMEM. */
int stack_memo_begin(struct stack_memo *memo, struct trace_reader *reader);
void stack_memo_free(struct stack_memo *memo);

/* Number of a side, or STACK_MEMO_NONE. */
u32 stack_memo_side(const struct stack_memo *memo, const struct trace_stack *stack);
/* One that it has not; without memory it is not remembered. */
u32 stack_memo_add_side(struct stack_memo *memo, const struct trace_stack *stack,
			const struct stack_hash *hash);

/* NULL: it is not known. Valid until the next is added. */
struct memo_stack *stack_memo_stack(struct stack_memo *memo, const struct memo_key *key);
void stack_memo_add_stack(struct stack_memo *memo, const struct memo_stack *stack);

#endif
