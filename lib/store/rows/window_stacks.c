/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each frame is looked up once in a window, each side hashed once. */
#include "store/rows/window_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"
#include "report/event/stack_end.h"
#include "store/wire/row_binary.h"

enum frame_rank { RANK_NO_NAME = 0, RANK_SYMBOL_TABLE = 1 };

/* A frame of the window, by its number and its enum frame_role. */
struct placed_frame {
	struct intern_key key;
	bool is_made;
	bool is_sent;	/* it and its object */
	bool is_stable; /* its number says what it is */
	struct frame_identity identity;
};

struct side {
	bool is_made;
	u32 number; /* in the memo */
	struct stack_hash frames;
};

struct window_stacks {
	struct stack_rows rows;
	struct trace_reader *reader;
	struct frame_identities *identities;
	const struct trace_stack *stacks;
	struct side *sides; /* by stack index */
	struct intern frames;
	struct frame_identity *hashed; /* of the side in work */
	u32 hashed_room;
	struct stack_hash no_frames;
};

int window_stacks_create(struct trace_reader *reader, const struct stack_rows *rows,
			 struct window_stacks **out)
{
	struct window_stacks *stacks = calloc(1, sizeof(*stacks));
	u32 count;

	if (!stacks)
		return -ENOMEM;
	stacks->rows = *rows;
	stacks->reader = reader;
	stacks->frames = INTERN(struct placed_frame);
	stacks->no_frames = stack_hash_frames(NULL, 0);
	count = trace_reader_stacks(reader, &stacks->stacks);
	stacks->sides = calloc(count ?: 1, sizeof(*stacks->sides));
	if (!stacks->sides || stack_memo_begin(rows->memo, reader) ||
	    frame_identities_create(reader, &stacks->identities))
		window_stacks_free(&stacks);
	else
		*out = stacks;
	return stacks ? 0 : -ENOMEM;
}

void window_stacks_free(struct window_stacks **stacks)
{
	struct window_stacks *old = *stacks;

	*stacks = NULL;
	if (!old)
		return;
	frame_identities_free(&old->identities);
	intern_clear(&old->frames);
	free(old->sides);
	free(old->hashed);
	free(old);
}

/* --- hashes --- */

/* Code that is generated may be other code in the next window. */
static bool is_stable(const struct window_stacks *stacks, const struct frame_place *place,
		      u64 frame)
{
	const struct trace_mapping *mapping;

	if (place->object.kind == FRAME_BY_NAME)
		return false;
	if (place->object.is_kernel)
		return place->record != FRAME_NO_RECORD;
	mapping = trace_reader_mapping(stacks->reader, FRAME_MAPPING(frame));
	return mapping ? mapping->kind != MAPPING_ANON : FRAME_MAPPING(frame) == MAPPING_UNKNOWN;
}

/* What was executed is identified as all frames of a stack are: sides are hashed without their
 * leaf. */
static enum frame_role identified_as(enum frame_role role)
{
	return role == FRAME_LEAF ? FRAME_LEAF : FRAME_RETURN;
}

static struct placed_frame *frame_of(struct window_stacks *stacks, u64 frame, enum frame_role role)
{
	const struct intern_key key = {.word = {frame, role}};
	struct placed_frame *placed = intern_entry(&stacks->frames, &key);
	struct frame_place place;

	if (!placed || placed->is_made)
		return placed;
	place = frame_identities_place(stacks->identities, frame, identified_as(role));
	placed->identity = frame_identities_of(stacks->identities, &place);
	placed->is_stable = is_stable(stacks, &place, frame);
	placed->is_made = true;
	return placed;
}

static int hash_side(struct window_stacks *stacks, const struct trace_stack *stack,
		     struct side *side)
{
	bool is_stable = true;

	if (array_make_rooms(stacks->hashed, stack->depth, stacks->hashed_room))
		return -ENOMEM;
	for (u32 i = 0; i < stack->depth; i++) {
		const struct placed_frame *placed =
			frame_of(stacks, stack->frames[i], FRAME_RETURN);

		if (!placed)
			return -ENOMEM;
		stacks->hashed[i] = placed->identity;
		is_stable &= placed->is_stable;
	}
	side->frames = stack_hash_frames(stacks->hashed, stack->depth);
	if (is_stable)
		side->number = stack_memo_add_side(stacks->rows.memo, stack, &side->frames);
	return 0;
}

static int make_side(struct window_stacks *stacks, const struct trace_stack *stack,
		     struct side *side)
{
	int err = 0;

	side->number = stack_memo_side(stacks->rows.memo, stack);
	if (side->number == STACK_MEMO_NONE)
		err = hash_side(stacks, stack, side);
	else
		side->frames = stacks->rows.memo->sides[side->number].hash;
	side->is_made = !err;
	return err;
}

/* A side of an event: how it ends, and its frames; NULL: it has none. */
struct half {
	const struct trace_stack *stack;
	u32 number; /* of the side in the memo */
	struct stack_hash_side hashed;
};

static int half_of(struct window_stacks *stacks, u32 index, u32 reason, struct half *half)
{
	struct side *side = index == TRACE_NO_STACK ? NULL : &stacks->sides[index];
	const struct trace_stack *stack = side ? &stacks->stacks[index] : NULL;

	if (side && !side->is_made && make_side(stacks, stack, side))
		return -ENOMEM;
	half->stack = stack;
	half->number = side ? side->number : STACK_MEMO_NONE;
	half->hashed.end = stack_end_of(stack, reason)->name;
	half->hashed.frames = side ? side->frames : stacks->no_frames;
	return 0;
}

/* --- rows --- */

static u64 depth_of(const struct half *half)
{
	return half->stack ? half->stack->depth : 0;
}

/* What was sent is remembered; *is_new: it was not. */
static int remember(struct sent_memory *sent, const struct sent_key *key, bool *is_new)
{
	*is_new = !sent_memory_has(sent, key);
	return *is_new ? sent_memory_add(sent, key) : 0;
}

static struct sent_key key_of(const u8 id[16], u64 what)
{
	struct sent_key key = {.word = {0, 0, what}};

	memcpy(key.word, id, 16);
	return key;
}

#define WHAT_STACK 0ULL
#define WHAT_OBJECT UINT64_MAX

static void put_build_id(const struct frame_object *object, struct byte_buffer *rows)
{
	char text[2 * TRACE_BUILD_ID_MAX + 1] = "";

	for (u32 i = 0; object->kind == FRAME_BY_BUILD_ID && i < object->build_id_bytes; i++)
		sprintf(text + 2 * i, "%02x", object->build_id[i]);
	row_put_text(rows, text);
}

static void put_object(struct window_stacks *stacks, const u8 *id,
		       const struct frame_object *object)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_OBJECTS];

	row_put_u16(rows, stacks->rows.day);
	row_put_bytes(rows, id, FRAME_OBJECT_BYTES);
	row_put_u8(rows, object->kind);
	put_build_id(object, rows);
	row_put_text(rows, object->path);
	row_put_u8(rows, object->is_kernel);
	stacks->rows.batch->row_count[STORE_OBJECTS]++;
}

static bool has_name(const struct frame_place *place)
{
	return place->symbol && *place->symbol->name;
}

static void put_frame(struct window_stacks *stacks, const struct frame_identity *identity,
		      u64 looked_up, const struct frame_place *place)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_FRAMES];
	bool named = has_name(place);

	row_put_u16(rows, stacks->rows.day);
	row_put_bytes(rows, identity->object, sizeof(identity->object));
	row_put_u64(rows, looked_up);
	row_put_u64(rows, place->symbol ? place->start : 0);
	row_put_u64(rows, place->symbol ? place->symbol->size : 0);
	row_put_count(rows, named);
	if (named)
		row_put_text(rows, place->symbol->name);
	row_put_count(rows, 0); /* files */
	row_put_count(rows, 0); /* lines */
	row_put_u8(rows, named ? RANK_SYMBOL_TABLE : RANK_NO_NAME);
	stacks->rows.batch->row_count[STORE_FRAMES]++;
}

/* Generated code is the function that its identity says. */
static struct frame_place place_of(const struct window_stacks *stacks,
				   const struct placed_frame *placed)
{
	u64 frame = placed->key.word[0];
	enum frame_role role = placed->key.word[1];
	const struct frame_place place = frame_identities_place(stacks->identities, frame, role);

	if (role != FRAME_EXECUTED || placed->is_stable)
		return place;
	return frame_identities_place(stacks->identities, frame, identified_as(role));
}

/* A frame that was sent without its name is sent again when it has one. */
static int send_place(struct window_stacks *stacks, const struct placed_frame *placed)
{
	const struct frame_place place = place_of(stacks, placed);
	u64 looked_up = frame_identity_looked_up(placed->identity.offset, placed->key.word[1]);
	const struct sent_key object = key_of(placed->identity.object, WHAT_OBJECT);
	const struct sent_key frame =
		key_of(placed->identity.object, looked_up << 1 | has_name(&place));
	bool is_new;

	if (place.object.kind == FRAME_UNKNOWN)
		return 0;
	if (remember(stacks->rows.sent, &object, &is_new))
		return -ENOMEM;
	if (is_new)
		put_object(stacks, placed->identity.object, &place.object);
	if (remember(stacks->rows.sent, &frame, &is_new))
		return -ENOMEM;
	if (is_new)
		put_frame(stacks, &placed->identity, looked_up, &place);
	return 0;
}

static int send_frame(struct window_stacks *stacks, u64 number, enum frame_role role)
{
	struct placed_frame *placed = frame_of(stacks, number, role);
	int err;

	if (!placed || placed->is_sent)
		return placed ? 0 : -ENOMEM;
	err = send_place(stacks, placed);
	placed->is_sent = !err;
	return err;
}

static int send_half(struct window_stacks *stacks, u64 leaf, const struct half *half)
{
	int err = leaf ? send_frame(stacks, leaf, FRAME_LEAF) : 0;

	for (u64 i = 0; i < depth_of(half) && !err; i++)
		err = send_frame(stacks, half->stack->frames[i],
				 i || leaf ? FRAME_RETURN : FRAME_EXECUTED);
	return err;
}

/* Calls for each frame of a stack as it is stored, leaf included. Without failure: all frames are
 * there. */
static void put_each(struct window_stacks *stacks, u64 leaf, const struct half *half, bool offsets)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_STACKS];
	u64 depth = depth_of(half) + (leaf != 0);

	for (u64 i = 0; i < depth; i++) {
		bool is_leaf = leaf && i == 0;
		u64 frame = is_leaf ? leaf : half->stack->frames[i - (leaf != 0)];
		const struct placed_frame *placed =
			frame_of(stacks, frame, is_leaf ? FRAME_LEAF : FRAME_RETURN);

		if (!placed)
			rows->failed = true;
		else if (offsets)
			row_put_u64(rows, placed->identity.offset);
		else
			row_put_bytes(rows, placed->identity.object, FRAME_OBJECT_BYTES);
	}
}

/* An event with its sides. */
struct whole {
	enum stack_leaf leaf;
	u64 kernel_leaf, user_leaf; /* 0: none */
	struct half kernel, user;
};

static void put_arrays(struct window_stacks *stacks, const struct whole *whole)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_STACKS];
	u64 depth = depth_of(&whole->kernel) + depth_of(&whole->user) +
		    (whole->leaf != STACK_LEAF_NONE);

	row_put_count(rows, depth);
	put_each(stacks, whole->kernel_leaf, &whole->kernel, false);
	put_each(stacks, whole->user_leaf, &whole->user, false);
	row_put_count(rows, depth);
	put_each(stacks, whole->kernel_leaf, &whole->kernel, true);
	put_each(stacks, whole->user_leaf, &whole->user, true);
}

static int put_stack(struct window_stacks *stacks, const struct whole *whole,
		     const struct stack_hash *hash)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_STACKS];

	row_put_u16(rows, stacks->rows.day);
	row_put_bytes(rows, hash->byte, sizeof(hash->byte));
	row_put_u16(rows, depth_of(&whole->kernel) + (whole->leaf == STACK_LEAF_KERNEL));
	row_put_text(rows, whole->kernel.hashed.end);
	row_put_text(rows, whole->user.hashed.end);
	row_put_u8(rows, whole->leaf);
	put_arrays(stacks, whole);
	stacks->rows.batch->row_count[STORE_STACKS]++;
	return rows->failed ? -ENOMEM : 0;
}

static int send_stack(struct window_stacks *stacks, const struct whole *whole,
		      const struct stack_hash *hash)
{
	const struct sent_key key = key_of(hash->byte, WHAT_STACK);
	bool is_new;
	int err = remember(stacks->rows.sent, &key, &is_new);

	if (err || !is_new)
		return err;
	err = send_half(stacks, whole->kernel_leaf, &whole->kernel)
		      ?: send_half(stacks, whole->user_leaf, &whole->user);
	return err ?: put_stack(stacks, whole, hash);
}

static int set_sides(struct window_stacks *stacks, const struct trace_event *event,
		     struct whole *whole)
{
	whole->leaf = stack_leaf_of(event);
	whole->kernel_leaf = whole->leaf == STACK_LEAF_KERNEL ? event->leaf : 0;
	whole->user_leaf = whole->leaf == STACK_LEAF_USER ? event->leaf : 0;
	return half_of(stacks, event->kernel, event->kernel_reason, &whole->kernel)
		       ?: half_of(stacks, event->user, event->user_reason, &whole->user);
}

static int set_leaf(struct window_stacks *stacks, const struct trace_event *event,
		    struct whole *whole, struct frame_identity *leaf)
{
	const struct placed_frame *placed;

	if (whole->leaf == STACK_LEAF_NONE)
		return 0;
	placed = frame_of(stacks, event->leaf, FRAME_LEAF);
	if (!placed)
		return -ENOMEM;
	*leaf = placed->identity;
	return 0;
}

/* A side that is there and has no number is not in the memo. */
static bool is_memorable(const struct half *half)
{
	return !half->stack || half->number != STACK_MEMO_NONE;
}

/* What was sent is sent until the memory of it has forgotten it. */
static u64 sent_mark(const struct window_stacks *stacks)
{
	return stacks->rows.sent->times + 1;
}

static int add_known(struct window_stacks *stacks, const struct whole *whole,
		     struct memo_stack *known)
{
	int err = 0;

	if (known->sent != sent_mark(stacks))
		err = send_stack(stacks, whole, &known->hash);
	if (!err)
		known->sent = sent_mark(stacks);
	return err;
}

static int add_new(struct window_stacks *stacks, const struct whole *whole, struct memo_stack *made)
{
	int err;

	made->hash = stack_hash_join(whole->leaf, &made->key.leaf, &whole->kernel.hashed,
				     &whole->user.hashed);
	err = send_stack(stacks, whole, &made->hash);
	made->sent = sent_mark(stacks);
	if (!err && is_memorable(&whole->kernel) && is_memorable(&whole->user))
		stack_memo_add_stack(stacks->rows.memo, made);
	return err;
}

int window_stacks_add(struct window_stacks *stacks, const struct trace_event *event,
		      struct stack_hash *hash)
{
	struct memo_stack made = {}, *known = NULL;
	struct whole whole;
	int err =
		set_sides(stacks, event, &whole) ?: set_leaf(stacks, event, &whole, &made.key.leaf);

	if (err)
		return err;
	made.key.kernel_end = whole.kernel.hashed.end;
	made.key.user_end = whole.user.hashed.end;
	made.key.kernel = whole.kernel.number;
	made.key.user = whole.user.number;
	made.key.whose = whole.leaf;
	if (is_memorable(&whole.kernel) && is_memorable(&whole.user))
		known = stack_memo_stack(stacks->rows.memo, &made.key);
	err = known ? add_known(stacks, &whole, known) : add_new(stacks, &whole, &made);
	if (!err)
		*hash = known ? known->hash : made.hash;
	return err;
}
