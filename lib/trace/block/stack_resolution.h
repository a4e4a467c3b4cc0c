/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the stacks of the file to those that a reader gives out. In the file a promised stack is a
 * placeholder: an index like any other, and no frames. Once all is read, every index is resolved to
 * a real stack or to a reason, and the placeholders are gone.
 */
#ifndef LIB_TRACE_STACK_RESOLUTION_H
#define LIB_TRACE_STACK_RESOLUTION_H

#include "trace/event.h"

/* Notes that answer number `number` is to `promise`. False when it is to no promise, to one that
 * has an answer, or names a promise. */
bool placeholder_answer(struct trace_stack *stacks, u32 count, u32 promise,
			const struct trace_answer *answer, u32 number);

#define INDEX_IS_PROMISE (1U << 31)

struct stack_resolution {
	/* By index in the file: the index given out, or INDEX_IS_PROMISE | the number of its
	 * answer. NULL: there are no promises. */
	u32 *by_index;
	const struct trace_answer *answers;
};

/* Removes the placeholders from the *count stacks, which are fewer than 2^31, and numbers the
 * stacks of the answers anew. The answers stay where they are. -ENOMEM: nothing has changed. */
int stack_resolution_build(struct stack_resolution *resolution, struct trace_stack *stacks,
			   u32 *count, struct trace_answer *answers, u32 answer_count);
void stack_resolution_free(struct stack_resolution *resolution);

/* Indexes of the file, which are valid, to those given out. False: the kernel stack is a promise.
 */
bool stack_resolution_apply(const struct stack_resolution *resolution, struct trace_event *event);

#endif
