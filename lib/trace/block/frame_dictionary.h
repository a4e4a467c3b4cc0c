/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a recording's stacks, numbered in the order of their first use, with the last
 * callees of each. Writer and reader build equal dictionaries while they process the stacks. Number
 * 0 is the frame 0: the root, which calls the outermost frame of every stack.
 */
#ifndef LIB_TRACE_FRAME_DICTIONARY_H
#define LIB_TRACE_FRAME_DICTIONARY_H

#include "arena.h"
#include "hash_index.h"
#include "trace/bytes/key_order.h"

#define FRAME_KEY_ROOT 0

struct frame_dictionary {
	u64 *frames; /* by key */
	struct key_order order;
	u32 room;
	struct arena *limit; /* memory limit; NULL: unlimited */
};

int frame_dictionary_init(struct frame_dictionary *dictionary); /* -ENOMEM */
/* Stores the next new frame, whose key will be order.keys when the frame is coded. -ENOMEM. */
int frame_dictionary_offer(struct frame_dictionary *dictionary, u64 frame);
void frame_dictionary_free(struct frame_dictionary *dictionary);

/* Finds the key of a frame; FRAME_KEY_ROOT: the frame is new. The root is not in the index. */
u32 frame_index_find(const struct hash_index *index, const struct frame_dictionary *dictionary,
		     u64 frame);
int frame_index_add(struct hash_index *index, u64 frame, u32 key); /* -ENOMEM */

#endif
