/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Resolves the placeholders of a file. In the file a deferred stack is a placeholder: a stack index
 * without frames. When all blocks are read, every index is resolved to a real stack or to a reason,
 * and the placeholders are removed.
 */
#ifndef LIB_TRACE_STACK_RESOLUTION_H
#define LIB_TRACE_STACK_RESOLUTION_H

#include "trace/event.h"

/* Stores the number of a placeholder's resolution. False if `placeholder` is not an unresolved
 * placeholder, or if the resolution names a placeholder. */
bool placeholder_resolve(struct trace_stack *stacks, u32 count, u32 placeholder,
			 const struct trace_resolution *resolution, u32 number);

#define INDEX_IS_PLACEHOLDER (1U << 31)

struct stack_resolution {
	/* By index in the file: the index given out, or INDEX_IS_PLACEHOLDER | the number of its
	 * resolution. NULL: there are no placeholders. */
	u32 *by_index;
	const struct trace_resolution *resolutions;
};

/* Removes the placeholders from the *count stacks, which are fewer than 2^31, and numbers the
 * stacks of the resolutions anew. The resolutions are not moved. -ENOMEM without any change. */
int stack_resolution_build(struct stack_resolution *resolution, struct trace_stack *stacks,
			   u32 *count, struct trace_resolution *resolutions, u32 resolution_count);
void stack_resolution_free(struct stack_resolution *resolution);

/* Converts an event's valid indexes in the file to indexes of the reader. False: the kernel stack
 * is a placeholder. */
bool stack_resolution_apply(const struct stack_resolution *resolution, struct trace_event *event);

#endif
