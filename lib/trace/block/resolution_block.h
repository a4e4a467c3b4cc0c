/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of resolutions of deferred user stacks. A resolution has the placeholder, its stack or
 * the reason for a missing stack, and the leaf that the stack's innermost frame has called.
 * Placeholders and leaves are coded as differences to the previous record.
 */
#ifndef LIB_TRACE_BLOCK_RESOLUTION_BLOCK_H
#define LIB_TRACE_BLOCK_RESOLUTION_BLOCK_H

#include "arena.h"
#include "trace/block/block.h"
#include "trace/bytes/byte_buffer.h"
#include "trace/bytes/number_column.h"
#include "trace/event.h"
#include "trace_file.h"

/*
 * A deferred stack is written to the file as a placeholder: a stack index without frames. When all
 * blocks are read, each placeholder is replaced by a real stack or a reason, and the placeholders
 * are removed.
 */

/* Stores the number of a placeholder's resolution. False if `placeholder` is not an unresolved
 * placeholder, or if the resolution names a placeholder. */
bool set_resolution_of_placeholder(struct trace_stack *stacks, u32 count, u32 placeholder,
				   const struct trace_resolution *resolution, u32 number);

#define INDEX_IS_PLACEHOLDER (1U << 31)

struct stack_resolution {
	/* By stack index in the file: the stack index without placeholders, or INDEX_IS_PLACEHOLDER
	 * | the number of the resolution. NULL: there are no placeholders. */
	u32 *by_index;
	const struct trace_resolution *resolutions;
};

/* Removes the placeholders from the *count stacks, which are fewer than 2^31, and adapts the stack
 * indexes in the resolutions. The resolutions are not moved. -ENOMEM: nothing is changed. */
int stack_resolution_build(struct stack_resolution *resolution, struct trace_stack *stacks,
			   u32 *count, struct trace_resolution *resolutions, u32 resolution_count);
void stack_resolution_free(struct stack_resolution *resolution);

/* Converts an event's valid indexes in the file to indexes of the reader. False: the kernel stack
 * is a placeholder. */
bool stack_resolution_apply(const struct stack_resolution *resolution, struct trace_event *event);

struct resolution_encoder {
	struct block_builder builder;
	struct number_writer leaf_column;
	/* `placeholder` and `leaf` are those of the previous record */
	u32 placeholder;
	u64 leaf;
	u32 newest; /* the highest stack index in the block so far */
};

void resolution_encoder_init(struct resolution_encoder *encoder);
/* empties the encoder for the next block */
void resolution_encoder_clear(struct resolution_encoder *encoder);
void resolution_encoder_free(struct resolution_encoder *encoder);
void resolution_encoder_add(struct resolution_encoder *encoder, u32 placeholder,
			    const struct trace_resolution *resolution);
/* Completes the block; the caller then calls resolution_encoder_clear(). */
const struct block_builder *resolution_encoder_finish(struct resolution_encoder *encoder);

/* Appends header.records resolutions to `resolutions` and stores the number of each resolution in
 * the placeholder among `stacks`. -EBADMSG also if a resolution is not for a placeholder, is the
 * second resolution of its placeholder, or names a placeholder; -ENOMEM also at the arena's
 * limit. */
int resolution_block_decode(struct block_view *view, struct arena *arena,
			    struct arena_array *stacks, struct arena_array *resolutions);

/*
 * The code of an event's stack, a number: the reason for a missing stack, or KEY_STACK_BASE + the
 * stack index. abi/trace_file.h describes at KEY_STACK_BASE how codes are written to a column.
 * `newest` is the highest stack index in the block so far, at first 0.
 */

static inline u32 stack_code(u32 index, u8 reason)
{
	return index == TRACE_NO_STACK ? reason : index + KEY_STACK_BASE;
}

static inline bool stack_code_has_stack(u32 code)
{
	return code >= KEY_STACK_BASE;
}

static inline u32 stack_code_index(u32 code)
{
	return stack_code_has_stack(code) ? code - KEY_STACK_BASE : TRACE_NO_STACK;
}

static inline u8 stack_code_reason(u32 code)
{
	return stack_code_has_stack(code) ? 0 : (u8)code;
}

void write_stack_code_to_column(struct byte_buffer *column, u32 code, u32 *newest);
/* An invalid reason, or a stack index that is not less than `stacks`, sets the cursor's `bad`. */
u32 read_stack_code_from_column(struct byte_cursor *column, u32 stacks, u32 *newest);

#endif
