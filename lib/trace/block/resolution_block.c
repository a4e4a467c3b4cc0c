/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encodes resolutions to columns and decodes them. A resolution says which stack, or which reason,
 * replaces the placeholder of a deferred stack. */
#include "trace/block/resolution_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Stacks are numbered in the order of their first use, so the index of a new stack is little more
 * than the highest index so far. */
_Static_assert(REASON_COUNT <= KEY_STACK_BASE, "a reason must not look like a stack");

void write_stack_code_to_column(struct byte_buffer *column, u32 code, u32 *newest)
{
	u32 index = stack_code_index(code);

	if (!stack_code_has_stack(code)) {
		byte_buffer_varint(column, code);
		return;
	}
	byte_buffer_varint(column, KEY_STACK_BASE + zigzag((s64)index - *newest));
	if (index > *newest)
		*newest = index;
}

u32 read_stack_code_from_column(struct byte_cursor *column, u32 stacks, u32 *newest)
{
	u64 code = byte_cursor_varint(column);
	u64 index;

	if (code < REASON_COUNT)
		return (u32)code;
	index = *newest + (u64)unzigzag(code - KEY_STACK_BASE);
	if (code < KEY_STACK_BASE || index >= stacks) {
		column->bad = true;
		return 0;
	}
	if (index > *newest)
		*newest = (u32)index;
	return KEY_STACK_BASE + (u32)index;
}

/* The stack of a resolution is never a placeholder, so one step resolves each placeholder. */

/* A placeholder has depth 0. Its id is the number of its resolution, from 1 on; 0: unresolved. */
static bool is_placeholder(const struct trace_stack *stack)
{
	return !stack->depth;
}

bool set_resolution_of_placeholder(struct trace_stack *stacks, u32 count, u32 placeholder,
				   const struct trace_resolution *resolution, u32 number)
{
	if (placeholder >= count || !is_placeholder(&stacks[placeholder]) || stacks[placeholder].id)
		return false;
	if (resolution->stack != TRACE_NO_STACK && is_placeholder(&stacks[resolution->stack]))
		return false;
	stacks[placeholder].id = number;
	return true;
}

int stack_resolution_build(struct stack_resolution *resolution, struct trace_stack *stacks,
			   u32 *count, struct trace_resolution *resolutions, u32 resolution_count)
{
	u32 kept = 0, *by_index;

	while (kept < *count && !is_placeholder(&stacks[kept]))
		kept++;
	if (kept == *count)
		return 0;
	by_index = calloc(*count, sizeof(*by_index));
	if (!by_index)
		return -ENOMEM;
	kept = 0;
	for (u32 i = 0; i < *count; i++)
		if (is_placeholder(&stacks[i])) {
			by_index[i] = INDEX_IS_PLACEHOLDER |
				      (stacks[i].id <= resolution_count ? stacks[i].id : 0);
		} else {
			stacks[kept] = stacks[i];
			by_index[i] = kept++;
		}
	for (u32 i = 0; i < resolution_count; i++)
		if (resolutions[i].stack != TRACE_NO_STACK)
			resolutions[i].stack = by_index[resolutions[i].stack];
	*count = kept;
	*resolution = (struct stack_resolution){by_index, resolutions};
	return 0;
}

void stack_resolution_free(struct stack_resolution *resolution)
{
	free(resolution->by_index);
	*resolution = (struct stack_resolution){0};
}

bool stack_resolution_apply(const struct stack_resolution *resolution, struct trace_event *event)
{
	static const struct trace_resolution unanswered = {.stack = TRACE_NO_STACK,
							   .reason = REASON_UNANSWERED};

	if (!resolution->by_index)
		return true;
	if (event->user != TRACE_NO_STACK) {
		u32 index = resolution->by_index[event->user];
		u32 number = index & ~INDEX_IS_PLACEHOLDER;

		if (!(index & INDEX_IS_PLACEHOLDER))
			event->user = index;
		else
			event_set_resolved_stack(
				event, number ? &resolution->resolutions[number - 1] : &unanswered);
	}
	if (event->kernel == TRACE_NO_STACK)
		return true;
	event->kernel = resolution->by_index[event->kernel];
	return !(event->kernel & INDEX_IS_PLACEHOLDER);
}

void resolution_encoder_init(struct resolution_encoder *encoder)
{
	struct block_builder *builder = &encoder->builder;

	memset(encoder, 0, sizeof(*encoder));
	builder->type = TRACE_BLOCK_RESOLUTIONS;
	builder->columns = RESOLUTION_COLUMNS;
	encoder->leaf_column.codes = &builder->column[RESOLUTION_COLUMN_LEAF];
	encoder->leaf_column.bits = &builder->column[RESOLUTION_COLUMN_LEAF_BITS];
}

void resolution_encoder_clear(struct resolution_encoder *encoder)
{
	block_builder_clear(&encoder->builder);
	encoder->placeholder = 0;
	encoder->leaf = 0;
	encoder->newest = 0;
}

void resolution_encoder_free(struct resolution_encoder *encoder)
{
	block_builder_free(&encoder->builder);
}

void resolution_encoder_add(struct resolution_encoder *encoder, u32 placeholder,
			    const struct trace_resolution *resolution)
{
	struct byte_buffer *column = encoder->builder.column;

	byte_buffer_signed(&column[RESOLUTION_COLUMN_PLACEHOLDERS],
			   (s64)placeholder - encoder->placeholder);
	write_stack_code_to_column(&column[RESOLUTION_COLUMN_STACKS],
				   stack_code(resolution->stack, resolution->reason),
				   &encoder->newest);
	number_writer_put(&encoder->leaf_column, zigzag((s64)(resolution->leaf - encoder->leaf)));
	encoder->placeholder = placeholder;
	encoder->leaf = resolution->leaf;
	encoder->builder.records++;
}

const struct block_builder *resolution_encoder_finish(struct resolution_encoder *encoder)
{
	number_writer_finish(&encoder->leaf_column);
	return &encoder->builder;
}

int resolution_block_decode(struct block_view *view, struct arena *arena,
			    struct arena_array *stacks, struct arena_array *resolutions)
{
	struct byte_cursor *placeholders = &view->column[RESOLUTION_COLUMN_PLACEHOLDERS];
	struct byte_cursor *codes = &view->column[RESOLUTION_COLUMN_STACKS];
	struct number_reader leaves = {.codes = view->column[RESOLUTION_COLUMN_LEAF],
				       .bits = view->column[RESOLUTION_COLUMN_LEAF_BITS]};
	u32 placeholder = 0, newest = 0;
	u64 leaf = 0;

	if (view->header.columns != RESOLUTION_COLUMNS)
		return -EBADMSG;
	for (u32 i = 0; i < view->header.records; i++) {
		struct trace_resolution *resolution =
			arena_array_add(arena, resolutions, sizeof(*resolution));
		u32 code;

		if (!resolution)
			return -ENOMEM;
		placeholder += (u32)byte_cursor_signed(placeholders);
		code = read_stack_code_from_column(codes, stacks->count, &newest);
		leaf += (u64)unzigzag(number_reader_get(&leaves));
		if (placeholders->bad || codes->bad || FRAME_IS_KERNEL(leaf))
			return -EBADMSG;
		*resolution = (struct trace_resolution){
			.stack = stack_code_index(code),
			.reason = stack_code_reason(code),
			.leaf = leaf,
		};
		if (!set_resolution_of_placeholder(stacks->items, stacks->count, placeholder,
						   resolution, resolutions->count))
			return -EBADMSG;
	}
	if (byte_cursor_left(placeholders) || byte_cursor_left(codes) ||
	    !number_reader_done(&leaves))
		return -EBADMSG;
	return 0;
}
