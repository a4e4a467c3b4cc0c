/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of stacks. A stack is coded from its root inwards against the stack before it in the
 * block: how many frames at the root they share, then each further frame as the difference to its
 * caller.
 */
#ifndef LIB_TRACE_STACK_BLOCK_H
#define LIB_TRACE_STACK_BLOCK_H

#include "trace/arena.h"
#include "trace/block.h"
#include "trace/event.h"

#define TRACE_DEPTH_MAX STACK_WORDS_MAX

struct stack_encoder {
	struct block_builder builder;
	struct trace_stack before; /* its frames are in before_frames */
	u64 before_frames[TRACE_DEPTH_MAX];
};

void stack_encoder_init(struct stack_encoder *encoder);
void stack_encoder_clear(struct stack_encoder *encoder);
void stack_encoder_free(struct stack_encoder *encoder);

/* 1 <= depth <= TRACE_DEPTH_MAX. */
void stack_encoder_add(struct stack_encoder *encoder, const struct trace_stack *stack);

/* Appends header.records struct trace_stack. -EBADMSG, or -ENOMEM also at the arena's limit. */
int stack_block_decode(struct block_view *view, struct arena *arena, struct arena_array *stacks);

#endif
