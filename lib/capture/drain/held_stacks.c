/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/drain/held_stacks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static size_t held_bytes(const struct raw_stack *raw)
{
	return offsetof(struct held_stack, raw) + RAW_STACK_SIZE((size_t)raw->stack_bytes);
}

void held_stacks_put(struct held_stacks *held, struct held_stack *stack)
{
	if (!held->first)
		held->last = &held->first;
	stack->next = NULL;
	*held->last = stack;
	held->last = &stack->next;
	held->bytes += held_bytes(&stack->raw);
}

bool held_stacks_add(struct held_stacks *held, const struct raw_stack *raw, u32 number)
{
	struct held_stack *stack = malloc(held_bytes(raw));

	if (!stack)
		return false;
	memcpy(&stack->raw, raw, RAW_STACK_SIZE((size_t)raw->stack_bytes));
	stack->number = number;
	held_stacks_put(held, stack);
	return true;
}

bool held_stacks_are_too_many(const struct held_stacks *held)
{
	return held->bytes > held->most;
}

bool held_stacks_has(const struct held_stacks *held, u32 tid, u32 cookie)
{
	for (const struct held_stack *stack = held->first; stack; stack = stack->next)
		if (stack->raw.tid == tid && stack->raw.cookie == cookie)
			return true;
	return false;
}

struct held_stack *held_stacks_take(struct held_stacks *held)
{
	struct held_stack *first = held->first;

	*held = (struct held_stacks){.most = held->most};
	return first;
}

void held_stacks_clear(struct held_stacks *held)
{
	struct held_stack *stack = held_stacks_take(held), *next;

	for (; stack; stack = next) {
		next = stack->next;
		free(stack);
	}
}
