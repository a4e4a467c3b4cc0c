/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash of the whole stack of an event, leaf and both sides, that is the same on every machine, at
 * every boot and in every recording: the first 128 bits of a SHA-256 over the identities of its
 * frames (report/event/frame_identity.h), not their addresses. Names of functions may come from an
 * attacker, so collisions must be hard to find.
 *
 * A side hashes to the first 128 bits of the SHA-256 over its frames, innermost first: the id of
 * the object and the offset of each. The hash of the stack covers
 *
 *    the side of the leaf (enum stack_leaf), its object and offset if there is a leaf
 *    the end of the kernel side, hash of its frames
 *    the end of the user side, hash of its frames
 *
 * with numbers as 64 bits, little-endian, and texts with their NUL. The end of a side, or the
 * reason for a missing side (report/event/stack_end.h), is part of the stack; a missing side has no
 * frames. The rows of a store have all of these, so the hash can be computed from them.
 */
#ifndef LIB_REPORT_STACK_HASH_H
#define LIB_REPORT_STACK_HASH_H

#include "report/event/frame_identity.h"

struct stack_hash {
	u8 byte[16];
};

/* Values in stores, which never change. */
enum stack_leaf { STACK_LEAF_NONE = 0, STACK_LEAF_KERNEL = 1, STACK_LEAF_USER = 2 };

struct stack_hash_side {
	const char *end; /* the name of a struct stack_end */
	struct stack_hash frames;
};

struct stack_hash stack_hash_frames(const struct frame_identity *frames, u32 depth);
/* `frame` is that of the leaf; unused with STACK_LEAF_NONE. */
struct stack_hash stack_hash_join(enum stack_leaf leaf, const struct frame_identity *frame,
				  const struct stack_hash_side *kernel,
				  const struct stack_hash_side *user);

enum stack_leaf stack_leaf_of(const struct trace_event *event);

/* The hashes of the stacks of a recording. */
struct stack_hashes;

/* The reader must outlive the hashes. -ENOMEM. */
int stack_hashes_create(struct trace_reader *reader, struct stack_hashes **out);
void stack_hashes_free(struct stack_hashes **hashes);

struct stack_hash stack_hashes_of(struct stack_hashes *hashes, const struct trace_event *event);

#endif
