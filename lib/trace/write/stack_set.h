/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The set of stacks that came without an id, compared by flags and all frames. */
#ifndef LIB_TRACE_STACK_SET_H
#define LIB_TRACE_STACK_SET_H

#include "hash_index.h"
#include "trace/event.h"

struct stack_set_entry {
	u64 *frames;
	u32 depth;
	u32 flags;
	u32 index; /* in the recording */
};

struct stack_set {
	struct hash_index index;
	struct stack_set_entry *entries;
	u32 room;
};

/* True and the stack's index if the stack is in the set. */
bool stack_set_find(const struct stack_set *set, const struct trace_stack *stack, u32 *index);
/* Adds a stack that is not in the set yet. -ENOMEM. */
int stack_set_add(struct stack_set *set, const struct trace_stack *stack, u32 index);
void stack_set_free(struct stack_set *set);

#endif
