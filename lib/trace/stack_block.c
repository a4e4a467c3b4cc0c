/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks to columns and back; frames are stored innermost first, so the shared part is the arrays'
 * end. */
#include "trace/stack_block.h"

#include <errno.h>
#include <string.h>

void stack_encoder_init(struct stack_encoder *encoder)
{
	memset(encoder, 0, sizeof(*encoder));
	encoder->builder.type = TRACE_BLOCK_STACKS;
	encoder->builder.columns = STACK_COLUMNS;
	encoder->before.frames = encoder->before_frames;
}

void stack_encoder_clear(struct stack_encoder *encoder)
{
	block_builder_clear(&encoder->builder);
	encoder->before = (struct trace_stack){.frames = encoder->before_frames};
}

void stack_encoder_free(struct stack_encoder *encoder)
{
	block_builder_free(&encoder->builder);
}

static u32 shared_at_root(const struct trace_stack *a, const struct trace_stack *b)
{
	u32 most = a->depth < b->depth ? a->depth : b->depth;
	u32 shared = 0;

	while (shared < most &&
	       a->frames[a->depth - 1 - shared] == b->frames[b->depth - 1 - shared])
		shared++;
	return shared;
}

static void put_frames(struct byte_buffer *column, const struct trace_stack *stack, u32 shared)
{
	u64 caller = shared ? stack->frames[stack->depth - shared] : 0;

	for (u32 i = stack->depth - shared; i--; caller = stack->frames[i])
		byte_buffer_signed(column, (s64)(stack->frames[i] - caller));
}

void stack_encoder_add(struct stack_encoder *encoder, const struct trace_stack *stack)
{
	struct byte_buffer *column = encoder->builder.column;
	struct byte_buffer *shapes = &column[STACK_COLUMN_SHAPES];
	u32 shared = shared_at_root(&encoder->before, stack);

	byte_buffer_signed(&column[STACK_COLUMN_IDS], (s64)stack->id - encoder->before.id);
	byte_buffer_varint(shapes, stack->flags);
	byte_buffer_signed(shapes, (s64)(stack->generation - encoder->before.generation));
	byte_buffer_varint(shapes, shared);
	byte_buffer_varint(shapes, stack->depth - shared);
	put_frames(&column[STACK_COLUMN_FRAMES], stack, shared);

	memcpy(encoder->before_frames, stack->frames, stack->depth * sizeof(u64));
	encoder->before = *stack;
	encoder->before.frames = encoder->before_frames;
	encoder->builder.records++;
}

static void get_frames(struct byte_cursor *cursor, const struct trace_stack *before, u64 *frames,
		       u32 depth, u32 shared)
{
	u64 caller = 0;

	if (shared) {
		memcpy(&frames[depth - shared], &before->frames[before->depth - shared],
		       shared * sizeof(u64));
		caller = frames[depth - shared];
	}
	for (u32 i = depth - shared; i--; caller = frames[i])
		frames[i] = caller + (u64)byte_cursor_signed(cursor);
}

static bool get_shape(struct block_view *view, const struct trace_stack *before,
		      struct trace_stack *stack, u32 *shared)
{
	struct byte_cursor *ids = &view->column[STACK_COLUMN_IDS];
	struct byte_cursor *shapes = &view->column[STACK_COLUMN_SHAPES];
	u64 own;

	stack->id = before->id + (u32)byte_cursor_signed(ids);
	stack->flags = byte_cursor_u32(shapes);
	stack->generation = before->generation + (u64)byte_cursor_signed(shapes);
	*shared = byte_cursor_u32(shapes);
	own = byte_cursor_varint(shapes);
	if (ids->bad || shapes->bad || *shared > before->depth || own > TRACE_DEPTH_MAX)
		return false;
	stack->depth = *shared + (u32)own;
	return stack->depth && stack->depth <= TRACE_DEPTH_MAX;
}

static int get_stack(struct block_view *view, struct arena *arena, const struct trace_stack *before,
		     struct trace_stack *stack)
{
	u32 shared;
	u64 *frames;

	if (!get_shape(view, before, stack, &shared))
		return -EBADMSG;
	frames = arena_alloc(arena, stack->depth * sizeof(u64));
	if (!frames)
		return -ENOMEM;
	get_frames(&view->column[STACK_COLUMN_FRAMES], before, frames, stack->depth, shared);
	stack->frames = frames;
	return view->column[STACK_COLUMN_FRAMES].bad ? -EBADMSG : 0;
}

static bool columns_done(const struct block_view *view)
{
	for (u32 i = 0; i < STACK_COLUMNS; i++)
		if (byte_cursor_left(&view->column[i]))
			return false;
	return true;
}

int stack_block_decode(struct block_view *view, struct arena *arena, struct arena_array *stacks)
{
	struct trace_stack before = {0};

	if (view->header.columns != STACK_COLUMNS)
		return -EBADMSG;
	for (u32 i = 0; i < view->header.records; i++) {
		struct trace_stack stack = {0}, *place;
		int err = get_stack(view, arena, &before, &stack);

		if (err)
			return err;
		place = arena_array_add(arena, stacks, sizeof(*place));
		if (!place)
			return -ENOMEM;
		*place = before = stack;
	}
	return columns_done(view) ? 0 : -EBADMSG;
}
