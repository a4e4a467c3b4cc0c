/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that came without an id, each once: told apart by flags and all frames, never by a hash
 * alone. */
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

/* True, and the stack's index, when it is in the set. */
bool stack_set_find(const struct stack_set *set, const struct trace_stack *stack, u32 *index);
/* It must not be in the set yet. -ENOMEM. */
int stack_set_add(struct stack_set *set, const struct trace_stack *stack, u32 index);
void stack_set_free(struct stack_set *set);

#endif
