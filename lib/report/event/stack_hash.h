/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A name for the whole stack of an event, leaf and both sides, that is the same on every machine,
 * at every boot and in every recording: the first 128 bits of a SHA-256 over what its frames are
 * (report/event/frame_identity.h), not where they lay. Others choose what frames are called, so it
 * has to be hard to find two stacks with one hash.
 *
 * A side hashes to the first 128 bits of the SHA-256 over its frames, innermost first: the object's
 * id and the offset of each. The stack is hashed as
 *
 *   whose the leaf is (enum stack_leaf), its object and offset if there is one
 *   how the kernel's side ends, hash of its frames
 *   how the user's side ends, hash of its frames
 *
 * with numbers as 64 bits, little-endian, and texts with their NUL. How a side ends, or why it is
 * missing (report/event/stack_end.h), belongs to the stack; a missing side has no frames. A hash
 * can be made again of the rows of a store, which have all of that.
 */
#ifndef LIB_REPORT_STACK_HASH_H
#define LIB_REPORT_STACK_HASH_H

#include "report/event/frame_identity.h"

struct stack_hash {
	u8 byte[16];
};

/* As stores have it: it never changes. */
enum stack_leaf { STACK_LEAF_NONE = 0, STACK_LEAF_KERNEL = 1, STACK_LEAF_USER = 2 };

struct stack_hash_side {
	const char *end; /* the name of a struct stack_end */
	struct stack_hash frames;
};

struct stack_hash stack_hash_frames(const struct frame_identity *frames, u32 depth);
/* `frame` is the leaf's; unused with STACK_LEAF_NONE. */
struct stack_hash stack_hash_join(enum stack_leaf leaf, const struct frame_identity *frame,
				  const struct stack_hash_side *kernel,
				  const struct stack_hash_side *user);

enum stack_leaf stack_leaf_of(const struct trace_event *event);

/* Those of a recording. */
struct stack_hashes;

/* The reader must outlive the hashes. -ENOMEM. */
int stack_hashes_create(struct trace_reader *reader, struct stack_hashes **out);
void stack_hashes_free(struct stack_hashes **hashes);

struct stack_hash stack_hashes_of(struct stack_hashes *hashes, const struct trace_event *event);

#endif
