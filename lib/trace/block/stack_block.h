/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of stacks. A stack is coded from its root, the outermost frame, inwards: the number of
 * frames at the root that it shares with the previous stack of the block, then each further frame
 * as a recent callee of its caller (key_order.h). The first occurrence of a frame in the recording
 * is coded as the difference to its caller.
 */
#ifndef LIB_TRACE_STACK_BLOCK_H
#define LIB_TRACE_STACK_BLOCK_H

#include "arena.h"
#include "hash_index.h"
#include "trace/block/block.h"
#include "trace/bytes/key_order.h"
#include "trace/event.h"

/*
 * The frames of a recording's stacks, numbered in the order of their first use, with the last
 * callees of each frame. Writer and reader build equal dictionaries while they process the stacks.
 * Number 0 is the frame 0: the root, which calls the outermost frame of every stack.
 */

#define FRAME_KEY_ROOT 0

struct frame_dictionary {
	u64 *frames; /* frames; index: key */
	struct key_order order;
	u32 room;
	struct arena *limit; /* memory limit; NULL: unlimited */
};

int frame_dictionary_init(struct frame_dictionary *dictionary); /* -ENOMEM */
/* Stores a frame that is not in the dictionary. Its key will be order.keys when the frame is coded.
 * -ENOMEM. */
int frame_dictionary_store_new_frame(struct frame_dictionary *dictionary, u64 frame);
void frame_dictionary_free(struct frame_dictionary *dictionary);

/* Finds the key of a frame; FRAME_KEY_ROOT: the frame is new. The root is not in the index. */
u32 frame_index_find(const struct hash_index *index, const struct frame_dictionary *dictionary,
		     u64 frame);
int frame_index_add(struct hash_index *index, u64 frame, u32 key); /* -ENOMEM */

#define TRACE_DEPTH_MAX STACK_WORDS_MAX

struct stack_encoder {
	struct block_builder builder;
	struct frame_dictionary dictionary;
	struct hash_index index; /* finds the key of a frame */
	/* id of the previous stack; `generation` and `depth` are of the previous stack, too */
	u32 id;
	u64 generation;
	u32 depth;
	u32 path[TRACE_DEPTH_MAX]; /* keys of the previous stack's frames, root first */
};

int stack_encoder_init(struct stack_encoder *encoder); /* -ENOMEM */
/* empties the encoder for the next block */
void stack_encoder_clear(struct stack_encoder *encoder);
void stack_encoder_free(struct stack_encoder *encoder);

/* Adds a stack of 1 to TRACE_DEPTH_MAX frames, none of which is 0. -ENOMEM: the encoder cannot go
 * on. */
int stack_encoder_add(struct stack_encoder *encoder, const struct trace_stack *stack);

/* Adds a placeholder (resolution_block.h), coded as zeros; the next stack is coded against the last
 * real stack. */
void stack_encoder_add_placeholder(struct stack_encoder *encoder);

/* Appends header.records struct trace_stack, including placeholders. The dictionary is that of all
 * previous blocks. -EBADMSG, or -ENOMEM also at the arena's limit; both invalidate the
 * dictionary. */
int stack_block_decode(struct block_view *view, struct frame_dictionary *dictionary,
		       struct arena *arena, struct arena_array *stacks);

#endif
