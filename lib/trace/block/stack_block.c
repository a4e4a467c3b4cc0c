/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encodes stacks to columns and decodes them. Frames of a struct trace_stack are innermost first,
 * paths are root first. */
#include "trace/block/stack_block.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The arrays of frames and of successors grow together. */

#define ROOM_MIN 1024U
#define ROOM_MAX (1U << 28)

static int grow_dictionary(struct frame_dictionary *dictionary)
{
	u32 room = dictionary->room ? dictionary->room * 2 : ROOM_MIN;
	struct key_successors *successors;
	u64 *frames;

	if (room > ROOM_MAX ||
	    !(!dictionary->limit ||
	      arena_charge_other_memory(dictionary->limit,
					(room - dictionary->room) *
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
	if (frame_dictionary_store_new_frame(dictionary, 0)) {
		frame_dictionary_free(dictionary);
		return -ENOMEM;
	}
	key_order_start(&dictionary->order, dictionary->order.successors);
	key_order_encode(&dictionary->order, FRAME_KEY_ROOT);
	return 0;
}

int frame_dictionary_store_new_frame(struct frame_dictionary *dictionary, u64 frame)
{
	if (dictionary->order.keys == dictionary->room && grow_dictionary(dictionary))
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

static u32 hash_frame(u64 frame)
{
	return hash_end(hash_word(0, frame));
}

static bool is_same_frame(const void *frames, u32 key, const void *frame)
{
	return ((const u64 *)frames)[key] == *(const u64 *)frame;
}

u32 frame_index_find(const struct hash_index *index, const struct frame_dictionary *dictionary,
		     u64 frame)
{
	u32 key = hash_index_find(index, hash_frame(frame), is_same_frame, dictionary->frames,
				  &frame);

	return key == HASH_INDEX_NONE ? FRAME_KEY_ROOT : key;
}

int frame_index_add(struct hash_index *index, u64 frame, u32 key)
{
	return hash_index_add(index, hash_frame(frame), key);
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
	encoder->depth = 0;
}

void stack_encoder_free(struct stack_encoder *encoder)
{
	block_builder_free(&encoder->builder);
	frame_dictionary_free(&encoder->dictionary);
	hash_index_free(&encoder->index);
}

static u64 frame_at_depth_from_root(const struct trace_stack *stack, u32 place)
{
	return stack->frames[stack->depth - 1 - place];
}

static u32 dictionary_key_of_caller(const u32 *path, u32 place)
{
	return place ? path[place - 1] : FRAME_KEY_ROOT;
}

/* A region is a mapping, or the whole kernel. Within a region, a frame is near its caller. */
static int add_new_frame(struct stack_encoder *encoder, u64 frame, u64 caller)
{
	s64 region = (s64)(frame >> FRAME_OFFSET_BITS) - (s64)(caller >> FRAME_OFFSET_BITS);
	struct frame_dictionary *dictionary = &encoder->dictionary;
	struct byte_buffer *column = encoder->builder.column;
	u64 offset = FRAME_OFFSET(frame);

	if (frame_dictionary_store_new_frame(dictionary, frame) ||
	    frame_index_add(&encoder->index, frame, dictionary->order.keys))
		return -ENOMEM;
	byte_buffer_signed(&column[STACK_COLUMN_REGIONS], region);
	if (!region)
		offset = zigzag((s64)offset - (s64)FRAME_OFFSET(caller));
	byte_buffer_varint(&column[STACK_COLUMN_OFFSETS], offset);
	return 0;
}

static int write_frame(struct stack_encoder *encoder, const struct trace_stack *stack, u32 place)
{
	struct frame_dictionary *dictionary = &encoder->dictionary;
	struct byte_buffer *order = &encoder->builder.column[STACK_COLUMN_ORDER];
	u64 frame = frame_at_depth_from_root(stack, place);
	u32 key = frame_index_find(&encoder->index, dictionary, frame);

	if (key == FRAME_KEY_ROOT) {
		u64 caller = dictionary->frames[dictionary_key_of_caller(encoder->path, place)];

		key = dictionary->order.keys;
		if (add_new_frame(encoder, frame, caller))
			return -ENOMEM;
	}
	byte_buffer_varint(order, key_order_encode(&dictionary->order, key));
	encoder->path[place] = key;
	return 0;
}

/* Writes what describes a stack besides its frames. `id` and `generation` are differences to the
 * previous stack. `shared`: number of frames at the root that are those of the previous stack.
 * `own`: number of further frames. */
static void write_stack_without_frames(struct stack_encoder *encoder, s64 id, s64 generation,
				       u32 flags, u32 shared, u32 own)
{
	struct byte_buffer *shapes = &encoder->builder.column[STACK_COLUMN_SHAPES];

	byte_buffer_signed(&encoder->builder.column[STACK_COLUMN_IDS], id);
	byte_buffer_varint(shapes, flags);
	byte_buffer_signed(shapes, generation);
	byte_buffer_varint(shapes, shared);
	byte_buffer_varint(shapes, own);
	encoder->builder.records++;
}

int stack_encoder_add(struct stack_encoder *encoder, const struct trace_stack *stack)
{
	u32 most = encoder->depth < stack->depth ? encoder->depth : stack->depth;
	const u64 *frames = encoder->dictionary.frames;
	u32 shared = 0;

	while (shared < most &&
	       frames[encoder->path[shared]] == frame_at_depth_from_root(stack, shared))
		shared++;
	write_stack_without_frames(encoder, (s64)stack->id - encoder->id,
				   (s64)(stack->generation - encoder->generation), stack->flags,
				   shared, stack->depth - shared);
	encoder->id = stack->id;
	encoder->generation = stack->generation;
	key_order_seek(&encoder->dictionary.order, dictionary_key_of_caller(encoder->path, shared));
	for (u32 place = shared; place < stack->depth; place++)
		if (write_frame(encoder, stack, place))
			return -ENOMEM;
	encoder->depth = stack->depth;
	return 0;
}

void stack_encoder_add_placeholder(struct stack_encoder *encoder)
{
	write_stack_without_frames(encoder, 0, 0, 0, 0, 0);
}

struct stack_decoder {
	struct block_view *view;
	struct frame_dictionary *dictionary;
	u32 id; /* id of the previous stack; the next three members are of the previous stack, too
		 */
	u64 generation;
	u32 depth;
	u32 path[TRACE_DEPTH_MAX];
};

static int read_new_frame(struct stack_decoder *decoder, u32 place)
{
	struct byte_cursor *regions = &decoder->view->column[STACK_COLUMN_REGIONS];
	struct byte_cursor *offsets = &decoder->view->column[STACK_COLUMN_OFFSETS];
	u64 caller = decoder->dictionary->frames[dictionary_key_of_caller(decoder->path, place)];
	s64 step = byte_cursor_signed(regions);
	u64 region = (caller >> FRAME_OFFSET_BITS) + (u64)step;
	u64 offset = byte_cursor_varint(offsets);

	if (!step)
		offset = FRAME_OFFSET(caller) + (u64)unzigzag(offset);
	if (regions->bad || offsets->bad || offset > FRAME_OFFSET_MASK || region > REGION_MAX)
		return -EBADMSG;
	return frame_dictionary_store_new_frame(decoder->dictionary,
						region << FRAME_OFFSET_BITS | offset);
}

static int read_frame(struct stack_decoder *decoder, u32 place)
{
	struct byte_cursor *cursor = &decoder->view->column[STACK_COLUMN_ORDER];
	struct key_order *order = &decoder->dictionary->order;
	u32 symbol = byte_cursor_u32(cursor);
	bool is_new = symbol == KEY_SYMBOL_NEW;
	int err = 0;

	if (cursor->bad)
		return -EBADMSG;
	if (is_new)
		err = read_new_frame(decoder, place);
	if (err)
		return err;
	return key_order_decode(order, symbol, order->keys + is_new, &decoder->path[place])
		       ? 0
		       : -EBADMSG;
}

/* A placeholder is all zero and does not change the stack and the decoder. */
static int read_stack(struct stack_decoder *decoder, struct arena *arena, struct trace_stack *stack)
{
	struct byte_cursor *ids = &decoder->view->column[STACK_COLUMN_IDS];
	struct byte_cursor *shapes = &decoder->view->column[STACK_COLUMN_SHAPES];
	s64 id = byte_cursor_signed(ids);
	u32 flags = byte_cursor_u32(shapes);
	s64 generation = byte_cursor_signed(shapes);
	u32 shared = byte_cursor_u32(shapes), own = byte_cursor_u32(shapes);
	u64 *frames;
	int err = 0;

	if (ids->bad || shapes->bad || shared > decoder->depth || own > TRACE_DEPTH_MAX - shared)
		return -EBADMSG;
	if (!id && !flags && !generation && !shared && !own)
		return 0;
	stack->id = decoder->id += (u32)id;
	stack->generation = decoder->generation += (u64)generation;
	stack->flags = flags;
	stack->depth = shared + own;
	if (!stack->id || !stack->depth || STACK_STOP(flags) >= STOP_COUNT)
		return -EBADMSG;
	key_order_seek(&decoder->dictionary->order,
		       dictionary_key_of_caller(decoder->path, shared));
	for (u32 place = shared; place < stack->depth && !err; place++)
		err = read_frame(decoder, place);
	decoder->depth = stack->depth;
	if (err)
		return err;
	frames = arena_alloc(arena, stack->depth * sizeof(*frames));
	for (u32 i = 0; frames && i < stack->depth; i++)
		frames[stack->depth - 1 - i] = decoder->dictionary->frames[decoder->path[i]];
	stack->frames = frames;
	return frames ? 0 : -ENOMEM;
}

int stack_block_decode(struct block_view *view, struct frame_dictionary *dictionary,
		       struct arena *arena, struct arena_array *stacks)
{
	struct stack_decoder decoder = {.view = view, .dictionary = dictionary};

	if (view->header.columns != STACK_COLUMNS)
		return -EBADMSG;
	for (u32 i = 0; i < view->header.records; i++) {
		struct trace_stack *stack = arena_array_add(arena, stacks, sizeof(*stack));
		int err = stack ? read_stack(&decoder, arena, stack) : -ENOMEM;

		if (err)
			return err;
	}
	for (u32 i = 0; i < STACK_COLUMNS; i++)
		if (byte_cursor_left(&view->column[i]))
			return -EBADMSG;
	return 0;
}
