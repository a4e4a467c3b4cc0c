/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/drain/held_stacks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Offset, in struct held_stack, of the frames of the first unwinding. */
static size_t offset_of_first_frames(const struct raw_stack *raw)
{
	size_t end = offsetof(struct held_stack, raw) + RAW_STACK_SIZE((size_t)raw->stack_bytes);

	return (end + sizeof(u64) - 1) / sizeof(u64) * sizeof(u64);
}

static size_t held_stack_bytes(const struct raw_stack *raw, u32 depth)
{
	return offset_of_first_frames(raw) + sizeof(u64) * depth;
}

static u64 *frames_of_first_unwinding(const struct held_stack *stack)
{
	return (u64 *)((u8 *)stack + offset_of_first_frames(&stack->raw));
}

void held_stacks_append(struct held_stacks *held, struct held_stack *stack)
{
	if (!held->first)
		held->last = &held->first;
	stack->next = NULL;
	*held->last = stack;
	held->last = &stack->next;
	held->bytes += held_stack_bytes(&stack->raw, stack->depth);
}

bool held_stacks_add(struct held_stacks *held, const struct raw_stack *raw,
		     const struct unwound_stack *first, u32 number)
{
	struct held_stack *stack = malloc(held_stack_bytes(raw, first->depth));

	if (!stack)
		return false;
	memcpy(&stack->raw, raw, RAW_STACK_SIZE((size_t)raw->stack_bytes));
	stack->number = number;
	stack->depth = first->depth;
	stack->flags = first->flags;
	memcpy(frames_of_first_unwinding(stack), first->frame, sizeof(u64) * first->depth);
	held_stacks_append(held, stack);
	return true;
}

void held_stack_choose_better_unwinding(const struct held_stack *stack,
					bool (*is_generated)(void *argument, u64 frame),
					void *argument, struct unwound_stack *later)
{
	const u64 *first = frames_of_first_unwinding(stack);
	bool is_whole_stack =
		later->depth && !STACK_STOP(later->flags) && !(later->flags & STACK_TRUNCATED);
	bool is_behind_generated = false, is_kept = later->depth < stack->depth && !is_whole_stack;
	u32 compared = later->depth < stack->depth ? later->depth : stack->depth;

	for (u32 i = 0; i < compared && !is_kept && !FRAME_IS_GUESSED(first[i]); i++) {
		if (first[i] != later->frame[i]) {
			is_kept = is_behind_generated;
			break;
		}
		is_behind_generated |= is_generated(argument, first[i]);
	}
	if (!is_kept)
		return;
	later->depth = stack->depth;
	later->flags = stack->flags;
	memcpy(later->frame, first, sizeof(u64) * stack->depth);
}

bool held_stacks_exceed_limit(const struct held_stacks *held)
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

struct held_stack *held_stacks_take_all(struct held_stacks *held)
{
	struct held_stack *first = held->first;

	*held = (struct held_stacks){.most = held->most};
	return first;
}

void held_stacks_clear(struct held_stacks *held)
{
	struct held_stack *stack = held_stacks_take_all(held), *next;

	for (; stack; stack = next) {
		next = stack->next;
		free(stack);
	}
}
