/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers to columns and back. */
#include "trace/block/answer_block.h"

#include <errno.h>
#include <string.h>

#include "trace/block/stack_code.h"
#include "trace/block/stack_resolution.h"

void answer_encoder_init(struct answer_encoder *encoder)
{
	struct block_builder *builder = &encoder->builder;

	memset(encoder, 0, sizeof(*encoder));
	builder->type = TRACE_BLOCK_ANSWERS;
	builder->columns = ANSWER_COLUMNS;
	encoder->leaf_column.codes = &builder->column[ANSWER_COLUMN_LEAF];
	encoder->leaf_column.bits = &builder->column[ANSWER_COLUMN_LEAF_BITS];
}

void answer_encoder_clear(struct answer_encoder *encoder)
{
	block_builder_clear(&encoder->builder);
	encoder->promise = 0;
	encoder->leaf = 0;
	encoder->newest = 0;
}

void answer_encoder_free(struct answer_encoder *encoder)
{
	block_builder_free(&encoder->builder);
}

void answer_encoder_add(struct answer_encoder *encoder, u32 promise,
			const struct trace_answer *answer)
{
	struct byte_buffer *column = encoder->builder.column;

	byte_buffer_signed(&column[ANSWER_COLUMN_PROMISES], (s64)promise - encoder->promise);
	stack_code_put(&column[ANSWER_COLUMN_STACKS], stack_code(answer->stack, answer->reason),
		       &encoder->newest);
	number_writer_put(&encoder->leaf_column, zigzag((s64)(answer->leaf - encoder->leaf)));
	encoder->promise = promise;
	encoder->leaf = answer->leaf;
	encoder->builder.records++;
}

const struct block_builder *answer_encoder_finish(struct answer_encoder *encoder)
{
	number_writer_finish(&encoder->leaf_column);
	return &encoder->builder;
}

struct answer_decoder {
	struct block_view *view;
	struct number_reader leaf_column;
	u32 promise;
	u64 leaf;
	u32 newest;
};

static bool get_answer(struct answer_decoder *decoder, u32 stacks, struct trace_answer *answer)
{
	struct byte_cursor *promises = &decoder->view->column[ANSWER_COLUMN_PROMISES];
	struct byte_cursor *codes = &decoder->view->column[ANSWER_COLUMN_STACKS];
	u32 code;

	decoder->promise += (u32)byte_cursor_signed(promises);
	code = stack_code_get(codes, stacks, &decoder->newest);
	decoder->leaf += (u64)unzigzag(number_reader_get(&decoder->leaf_column));
	*answer = (struct trace_answer){
		.stack = stack_code_index(code),
		.reason = stack_code_reason(code),
		.leaf = decoder->leaf,
	};
	return !promises->bad && !codes->bad && !FRAME_IS_KERNEL(answer->leaf);
}

static bool columns_done(const struct answer_decoder *decoder)
{
	return !byte_cursor_left(&decoder->view->column[ANSWER_COLUMN_PROMISES]) &&
	       !byte_cursor_left(&decoder->view->column[ANSWER_COLUMN_STACKS]) &&
	       number_reader_done(&decoder->leaf_column);
}

int answer_block_decode(struct block_view *view, struct arena *arena, struct arena_array *stacks,
			struct arena_array *answers)
{
	struct answer_decoder decoder = {
		.view = view,
		.leaf_column = {.codes = view->column[ANSWER_COLUMN_LEAF],
				.bits = view->column[ANSWER_COLUMN_LEAF_BITS]},
	};

	if (view->header.columns != ANSWER_COLUMNS)
		return -EBADMSG;
	for (u32 i = 0; i < view->header.records; i++) {
		struct trace_answer *answer = arena_array_add(arena, answers, sizeof(*answer));

		if (!answer)
			return -ENOMEM;
		if (!get_answer(&decoder, stacks->count, answer) ||
		    !placeholder_answer(stacks->items, stacks->count, decoder.promise, answer,
					answers->count))
			return -EBADMSG;
	}
	return columns_done(&decoder) ? 0 : -EBADMSG;
}
