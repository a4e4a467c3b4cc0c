/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of answers: of promised stacks the stack, or the reason why there is none, and the leaf
 * in front of it. Promises are differences to the one before, and so are leaves.
 */
#ifndef LIB_TRACE_ANSWER_BLOCK_H
#define LIB_TRACE_ANSWER_BLOCK_H

#include "trace/block/block.h"
#include "trace/bytes/arena.h"
#include "trace/bytes/number_column.h"
#include "trace/event.h"

struct answer_encoder {
	struct block_builder builder;
	struct number_writer leaf_column;
	u32 promise; /* of the record before; so is the next one */
	u64 leaf;
	u32 newest; /* the highest stack index in the block so far */
};

void answer_encoder_init(struct answer_encoder *encoder);
void answer_encoder_clear(struct answer_encoder *encoder); /* begins the next block */
void answer_encoder_free(struct answer_encoder *encoder);
void answer_encoder_add(struct answer_encoder *encoder, u32 promise,
			const struct trace_answer *answer);
/* The builder is whole; encoder_clear is next. */
const struct block_builder *answer_encoder_finish(struct answer_encoder *encoder);

/* Appends header.records struct trace_answer to `answers` and notes with each placeholder among
 * `stacks` which one is its own. -EBADMSG also when an answer is to no promise, to one that has an
 * answer, or names a promise; -ENOMEM also at the arena's limit. */
int answer_block_decode(struct block_view *view, struct arena *arena, struct arena_array *stacks,
			struct arena_array *answers);

#endif
