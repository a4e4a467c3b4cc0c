/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a side are hashed once: a recording has few stacks for its many events. */
#include "stack_hash.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "report/event/stack_end.h"

struct side {
	bool is_made;
	struct stack_hash frames;
};

struct stack_hashes {
	struct frame_identities *identities;
	const struct trace_stack *stacks;
	struct side *sides; /* by stack index */
	struct frame_identity
		*frames; /* identities of the side being hashed; room for the deepest */
};

/* --- the hashed bytes --- */

static void put_number(SHA2_CTX *hash, u64 number)
{
	u64 bytes = htole64(number);

	SHA256Update(hash, (const u8 *)&bytes, sizeof(bytes));
}

static void put_frame(SHA2_CTX *hash, const struct frame_identity *frame)
{
	SHA256Update(hash, frame->object, sizeof(frame->object));
	put_number(hash, frame->offset);
}

static void put_side(SHA2_CTX *hash, const struct stack_hash_side *side)
{
	SHA256Update(hash, (const u8 *)side->end, strlen(side->end) + 1);
	SHA256Update(hash, side->frames.byte, sizeof(side->frames.byte));
}

static struct stack_hash take(SHA2_CTX *hash)
{
	u8 digest[SHA256_DIGEST_LENGTH];
	struct stack_hash taken;

	SHA256Final(digest, hash);
	memcpy(taken.byte, digest, sizeof(taken.byte));
	return taken;
}

struct stack_hash stack_hash_frames(const struct frame_identity *frames, u32 depth)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	for (u32 i = 0; i < depth; i++)
		put_frame(&hash, &frames[i]);
	return take(&hash);
}

struct stack_hash stack_hash_join(enum stack_leaf leaf, const struct frame_identity *frame,
				  const struct stack_hash_side *kernel,
				  const struct stack_hash_side *user)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	put_number(&hash, leaf);
	if (leaf != STACK_LEAF_NONE)
		put_frame(&hash, frame);
	put_side(&hash, kernel);
	put_side(&hash, user);
	return take(&hash);
}

enum stack_leaf stack_leaf_of(const struct trace_event *event)
{
	if (!event->leaf)
		return STACK_LEAF_NONE;
	return FRAME_IS_KERNEL(event->leaf) ? STACK_LEAF_KERNEL : STACK_LEAF_USER;
}

/* --- stacks of a recording --- */

static int make_room(struct stack_hashes *hashes, struct trace_reader *reader)
{
	u32 count = trace_reader_stacks(reader, &hashes->stacks), deepest = 0;

	for (u32 i = 0; i < count; i++)
		if (hashes->stacks[i].depth > deepest)
			deepest = hashes->stacks[i].depth;
	if (trace_reader_take(reader, (u64)count * sizeof(*hashes->sides) +
					      (u64)deepest * sizeof(*hashes->frames)))
		return -ENOMEM;
	hashes->sides = calloc(count ?: 1, sizeof(*hashes->sides));
	hashes->frames = calloc(deepest ?: 1, sizeof(*hashes->frames));
	return hashes->sides && hashes->frames ? 0 : -ENOMEM;
}

int stack_hashes_create(struct trace_reader *reader, struct stack_hashes **out)
{
	struct stack_hashes *hashes = calloc(1, sizeof(*hashes));

	if (!hashes)
		return -ENOMEM;
	if (make_room(hashes, reader) || frame_identities_create(reader, &hashes->identities))
		stack_hashes_free(&hashes);
	else
		*out = hashes;
	return hashes ? 0 : -ENOMEM;
}

void stack_hashes_free(struct stack_hashes **hashes)
{
	struct stack_hashes *old = *hashes;

	*hashes = NULL;
	if (!old)
		return;
	frame_identities_free(&old->identities);
	free(old->sides);
	free(old->frames);
	free(old);
}

static struct frame_identity identity_of(struct stack_hashes *hashes, u64 frame,
					 enum frame_role role)
{
	const struct frame_place place = frame_identities_place(hashes->identities, frame, role);

	return frame_identities_of(hashes->identities, &place);
}

static struct stack_hash_side side_of(struct stack_hashes *hashes, u32 stack, u32 reason)
{
	bool has_stack = stack != TRACE_NO_STACK;
	const struct trace_stack *frames = has_stack ? &hashes->stacks[stack] : NULL;
	struct side *side = has_stack ? &hashes->sides[stack] : NULL;
	const char *end = stack_end_of(frames, reason)->name;

	if (!side)
		return (struct stack_hash_side){end, stack_hash_frames(NULL, 0)};
	if (!side->is_made) {
		for (u32 i = 0; i < frames->depth; i++)
			hashes->frames[i] = identity_of(hashes, frames->frames[i], FRAME_RETURN);
		*side = (struct side){true, stack_hash_frames(hashes->frames, frames->depth)};
	}
	return (struct stack_hash_side){end, side->frames};
}

struct stack_hash stack_hashes_of(struct stack_hashes *hashes, const struct trace_event *event)
{
	const struct stack_hash_side kernel = side_of(hashes, event->kernel, event->kernel_reason);
	const struct stack_hash_side user = side_of(hashes, event->user, event->user_reason);
	enum stack_leaf leaf = stack_leaf_of(event);
	struct frame_identity frame = {};

	if (leaf != STACK_LEAF_NONE)
		frame = identity_of(hashes, event->leaf, FRAME_LEAF);
	return stack_hash_join(leaf, &frame, &kernel, &user);
}
