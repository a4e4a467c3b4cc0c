/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encodes stacks to columns and decodes them. Frames of a struct trace_stack are innermost first,
 * paths are root first. */
#include "trace/block/stack_block.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Two arrays that grow together. */

#define ROOM_MIN 1024U
#define ROOM_MAX (1U << 28)

static int grow(struct frame_dictionary *dictionary)
{
	u32 room = dictionary->room ? dictionary->room * 2 : ROOM_MIN;
	struct key_successors *successors;
	u64 *frames;

	if (room > ROOM_MAX ||
	    !(!dictionary->limit ||
	      arena_take(dictionary->limit, (room - dictionary->room) *
						    (sizeof(u64) + sizeof(struct key_successors)))))
		return -ENOMEM;
	frames = reallocarray(dictionary->frames, room, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	dictionary->frames = frames;
	successors = reallocarray(dictionary->order.successors, room, sizeof(*successors));
	if (!successors)
		return -ENOMEM;
	dictionary->order.successors = successors;
	dictionary->room = room;
	return 0;
}

int frame_dictionary_init(struct frame_dictionary *dictionary)
{
	memset(dictionary, 0, sizeof(*dictionary));
	if (frame_dictionary_offer(dictionary, 0)) {
		frame_dictionary_free(dictionary);
		return -ENOMEM;
	}
	key_order_start(&dictionary->order, dictionary->order.successors);
	key_order_encode(&dictionary->order, FRAME_KEY_ROOT);
	return 0;
}

int frame_dictionary_offer(struct frame_dictionary *dictionary, u64 frame)
{
	if (dictionary->order.keys == dictionary->room && grow(dictionary))
		return -ENOMEM;
	dictionary->frames[dictionary->order.keys] = frame;
	return 0;
}

void frame_dictionary_free(struct frame_dictionary *dictionary)
{
	free(dictionary->frames);
	free(dictionary->order.successors);
	memset(dictionary, 0, sizeof(*dictionary));
}

static u32 frame_hash(u64 frame)
{
	return hash_end(hash_word(0, frame));
}

static bool is_frame(const void *frames, u32 key, const void *frame)
{
	return ((const u64 *)frames)[key] == *(const u64 *)frame;
}

u32 frame_index_find(const struct hash_index *index, const struct frame_dictionary *dictionary,
		     u64 frame)
{
	u32 key = hash_index_find(index, frame_hash(frame), is_frame, dictionary->frames, &frame);

	return key == HASH_INDEX_NONE ? FRAME_KEY_ROOT : key;
}

int frame_index_add(struct hash_index *index, u64 frame, u32 key)
{
	return hash_index_add(index, frame_hash(frame), key);
}

#define REGION_MAX (UINT64_MAX >> FRAME_OFFSET_BITS)

int stack_encoder_init(struct stack_encoder *encoder)
{
	memset(encoder, 0, sizeof(*encoder));
	encoder->builder.type = TRACE_BLOCK_STACKS;
	encoder->builder.columns = STACK_COLUMNS;
	return frame_dictionary_init(&encoder->dictionary);
}

void stack_encoder_clear(struct stack_encoder *encoder)
{
	block_builder_clear(&encoder->builder);
	encoder->id = 0;
	encoder->generation = 0;
	encoder->path.depth = 0;
}

void stack_encoder_free(struct stack_encoder *encoder)
{
	block_builder_free(&encoder->builder);
	frame_dictionary_free(&encoder->dictionary);
	hash_index_free(&encoder->index);
}

static u64 frame_from_root(const struct trace_stack *stack, u32 place)
{
	return stack->frames[stack->depth - 1 - place];
}

static u32 shared_at_root(const struct stack_encoder *encoder, const struct trace_stack *stack)
{
	const struct stack_path *before = &encoder->path;
	u32 most = before->depth < stack->depth ? before->depth : stack->depth;
	u32 shared = 0;

	while (shared < most &&
	       encoder->dictionary.frames[before->key[shared]] == frame_from_root(stack, shared))
		shared++;
	return shared;
}

static u32 caller_key(const struct stack_path *path, u32 place)
{
	return place ? path->key[place - 1] : FRAME_KEY_ROOT;
}

/* A region is a mapping, or the whole kernel. Within a region, a frame is near its caller. */
static void put_new_frame(struct byte_buffer *column, u64 frame, u64 caller)
{
	s64 region = (s64)(frame >> FRAME_OFFSET_BITS) - (s64)(caller >> FRAME_OFFSET_BITS);
	u64 offset = FRAME_OFFSET(frame);

	byte_buffer_signed(&column[STACK_COLUMN_REGIONS], region);
	if (!region)
		offset = zigzag((s64)offset - (s64)FRAME_OFFSET(caller));
	byte_buffer_varint(&column[STACK_COLUMN_OFFSETS], offset);
}

static int add_frame(struct stack_encoder *encoder, u64 frame, u64 caller)
{
	struct frame_dictionary *dictionary = &encoder->dictionary;
	u32 key = dictionary->order.keys;

	if (frame_dictionary_offer(dictionary, frame) ||
	    frame_index_add(&encoder->index, frame, key))
		return -ENOMEM;
	put_new_frame(encoder->builder.column, frame, caller);
	return 0;
}

static int put_frame(struct stack_encoder *encoder, const struct trace_stack *stack, u32 place)
{
	struct frame_dictionary *dictionary = &encoder->dictionary;
	struct byte_buffer *order = &encoder->builder.column[STACK_COLUMN_ORDER];
	u64 frame = frame_from_root(stack, place);
	u32 key = frame_index_find(&encoder->index, dictionary, frame);

	if (key == FRAME_KEY_ROOT) {
		u64 caller = dictionary->frames[caller_key(&encoder->path, place)];

		key = dictionary->order.keys;
		if (add_frame(encoder, frame, caller))
			return -ENOMEM;
	}
	byte_buffer_varint(order, key_order_encode(&dictionary->order, key));
	encoder->path.key[place] = key;
	return 0;
}

struct stack_shape {
	s64 id; /* difference to the stack before, like the generation */
	s64 generation;
	u32 flags;
	u32 shared; /* frames at the root */
	u32 own;
};

static void put_shape(struct stack_encoder *encoder, const struct stack_shape *shape)
{
	struct byte_buffer *shapes = &encoder->builder.column[STACK_COLUMN_SHAPES];

	byte_buffer_signed(&encoder->builder.column[STACK_COLUMN_IDS], shape->id);
	byte_buffer_varint(shapes, shape->flags);
	byte_buffer_signed(shapes, shape->generation);
	byte_buffer_varint(shapes, shape->shared);
	byte_buffer_varint(shapes, shape->own);
	encoder->builder.records++;
}

static struct stack_shape shape_of(const struct stack_encoder *encoder,
				   const struct trace_stack *stack, u32 shared)
{
	return (struct stack_shape){
		.id = (s64)stack->id - encoder->id,
		.generation = (s64)(stack->generation - encoder->generation),
		.flags = stack->flags,
		.shared = shared,
		.own = stack->depth - shared,
	};
}

int stack_encoder_add(struct stack_encoder *encoder, const struct trace_stack *stack)
{
	u32 shared = shared_at_root(encoder, stack);
	struct stack_shape shape = shape_of(encoder, stack, shared);

	put_shape(encoder, &shape);
	encoder->id = stack->id;
	encoder->generation = stack->generation;
	key_order_seek(&encoder->dictionary.order, caller_key(&encoder->path, shared));
	for (u32 place = shared; place < stack->depth; place++)
		if (put_frame(encoder, stack, place))
			return -ENOMEM;
	encoder->path.depth = stack->depth;
	return 0;
}

void stack_encoder_add_placeholder(struct stack_encoder *encoder)
{
	put_shape(encoder, &(const struct stack_shape){0});
}

struct stack_decoder {
	struct block_view *view;
	struct frame_dictionary *dictionary;
	u32 id;
	u64 generation;
	struct stack_path path;
};

static bool get_shape(struct stack_decoder *decoder, struct stack_shape *shape)
{
	struct byte_cursor *ids = &decoder->view->column[STACK_COLUMN_IDS];
	struct byte_cursor *shapes = &decoder->view->column[STACK_COLUMN_SHAPES];

	shape->id = byte_cursor_signed(ids);
	shape->flags = byte_cursor_u32(shapes);
	shape->generation = byte_cursor_signed(shapes);
	shape->shared = byte_cursor_u32(shapes);
	shape->own = byte_cursor_u32(shapes);
	return !ids->bad && !shapes->bad && shape->shared <= decoder->path.depth &&
	       shape->own <= TRACE_DEPTH_MAX - shape->shared;
}

static bool take_shape(struct stack_decoder *decoder, const struct stack_shape *shape,
		       struct trace_stack *stack)
{
	stack->id = decoder->id += (u32)shape->id;
	stack->generation = decoder->generation += (u64)shape->generation;
	stack->flags = shape->flags;
	stack->depth = shape->shared + shape->own;
	return stack->id && stack->depth && STACK_STOP(stack->flags) < STOP_COUNT;
}

static int get_new_frame(struct stack_decoder *decoder, u32 place)
{
	struct byte_cursor *regions = &decoder->view->column[STACK_COLUMN_REGIONS];
	struct byte_cursor *offsets = &decoder->view->column[STACK_COLUMN_OFFSETS];
	u64 caller = decoder->dictionary->frames[caller_key(&decoder->path, place)];
	s64 step = byte_cursor_signed(regions);
	u64 region = (caller >> FRAME_OFFSET_BITS) + (u64)step;
	u64 offset = byte_cursor_varint(offsets);

	if (!step)
		offset = FRAME_OFFSET(caller) + (u64)unzigzag(offset);
	if (regions->bad || offsets->bad || offset > FRAME_OFFSET_MASK || region > REGION_MAX)
		return -EBADMSG;
	return frame_dictionary_offer(decoder->dictionary, region << FRAME_OFFSET_BITS | offset);
}

static int get_frame(struct stack_decoder *decoder, u32 place)
{
	struct byte_cursor *cursor = &decoder->view->column[STACK_COLUMN_ORDER];
	struct key_order *order = &decoder->dictionary->order;
	u32 symbol = byte_cursor_u32(cursor);
	bool is_new = symbol == KEY_SYMBOL_NEW;
	int err = 0;

	if (cursor->bad)
		return -EBADMSG;
	if (is_new)
		err = get_new_frame(decoder, place);
	if (err)
		return err;
	return key_order_decode(order, symbol, order->keys + is_new, &decoder->path.key[place])
		       ? 0
		       : -EBADMSG;
}

static int get_path(struct stack_decoder *decoder, u32 shared, u32 depth)
{
	int err = 0;

	key_order_seek(&decoder->dictionary->order, caller_key(&decoder->path, shared));
	for (u32 place = shared; place < depth && !err; place++)
		err = get_frame(decoder, place);
	decoder->path.depth = depth;
	return err;
}

static u64 *copy_frames(const struct stack_decoder *decoder, struct arena *arena)
{
	const struct stack_path *path = &decoder->path;
	u64 *frames = arena_alloc(arena, path->depth * sizeof(u64));

	for (u32 i = 0; frames && i < path->depth; i++)
		frames[path->depth - 1 - i] = decoder->dictionary->frames[path->key[i]];
	return frames;
}

static int get_stack(struct stack_decoder *decoder, struct arena *arena, struct trace_stack *stack)
{
	struct stack_shape shape;
	int err;

	if (!get_shape(decoder, &shape))
		return -EBADMSG;
	if ((!shape.id && !shape.flags && !shape.generation && !shape.shared && !shape.own))
		return 0;
	if (!take_shape(decoder, &shape, stack))
		return -EBADMSG;
	err = get_path(decoder, shape.shared, stack->depth);
	if (err)
		return err;
	stack->frames = copy_frames(decoder, arena);
	return stack->frames ? 0 : -ENOMEM;
}

static bool columns_done(const struct block_view *view)
{
	for (u32 i = 0; i < STACK_COLUMNS; i++)
		if (byte_cursor_left(&view->column[i]))
			return false;
	return true;
}

int stack_block_decode(struct block_view *view, struct frame_dictionary *dictionary,
		       struct arena *arena, struct arena_array *stacks)
{
	struct stack_decoder decoder = {.view = view, .dictionary = dictionary};

	if (view->header.columns != STACK_COLUMNS)
		return -EBADMSG;
	for (u32 i = 0; i < view->header.records; i++) {
		struct trace_stack *stack = arena_array_add(arena, stacks, sizeof(*stack));
		int err = stack ? get_stack(&decoder, arena, stack) : -ENOMEM;

		if (err)
			return err;
	}
	return columns_done(view) ? 0 : -EBADMSG;
}
