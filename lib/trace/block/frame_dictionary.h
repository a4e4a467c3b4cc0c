/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a recording's stacks by number, in the order of their first use, and what each of
 * them called last. Writer and reader build the same one while they go through the stacks. Number 0
 * is the frame 0: the root, which calls the outermost frame of every stack.
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
	struct arena *limit; /* what its memory is counted against; NULL: nothing */
};

int frame_dictionary_init(struct frame_dictionary *dictionary); /* -ENOMEM */
/* Makes room for the next new frame and says what it is; it gets the key order.keys once it is
 * coded. -ENOMEM. */
int frame_dictionary_offer(struct frame_dictionary *dictionary, u64 frame);
void frame_dictionary_free(struct frame_dictionary *dictionary);

/* The way back: from a frame to its key, or FRAME_KEY_ROOT: it has none yet. The root is not in the
 * index. */
u32 frame_index_find(const struct hash_index *index, const struct frame_dictionary *dictionary,
		     u64 frame);
int frame_index_add(struct hash_index *index, u64 frame, u32 key); /* -ENOMEM */

#endif
