/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Placeholders are never chained, so one step resolves each: from its index to its resolution,
 * whose stack is a real one. */
#include "trace/block/stack_resolution.h"

#include <errno.h>
#include <stdlib.h>

/* A placeholder has depth 0; its id is the number of its resolution, counted from 1; 0: unresolved.
 */
static bool is_placeholder(const struct trace_stack *stack)
{
	return !stack->depth;
}

bool placeholder_resolve(struct trace_stack *stacks, u32 count, u32 placeholder,
			 const struct trace_resolution *resolution, u32 number)
{
	if (placeholder >= count || !is_placeholder(&stacks[placeholder]) || stacks[placeholder].id)
		return false;
	if (resolution->stack != TRACE_NO_STACK && is_placeholder(&stacks[resolution->stack]))
		return false;
	stacks[placeholder].id = number;
	return true;
}

static bool has_placeholders(const struct trace_stack *stacks, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (is_placeholder(&stacks[i]))
			return true;
	return false;
}

static void number_stacks(u32 *by_index, const struct trace_stack *stacks, u32 count,
			  u32 resolutions)
{
	u32 next = 0;

	for (u32 i = 0; i < count; i++)
		by_index[i] = is_placeholder(&stacks[i])
				      ? INDEX_IS_PLACEHOLDER |
						(stacks[i].id <= resolutions ? stacks[i].id : 0)
				      : next++;
}

static u32 remove_placeholders(struct trace_stack *stacks, u32 count)
{
	u32 kept = 0;

	for (u32 i = 0; i < count; i++)
		if (!is_placeholder(&stacks[i]))
			stacks[kept++] = stacks[i];
	return kept;
}

int stack_resolution_build(struct stack_resolution *resolution, struct trace_stack *stacks,
			   u32 *count, struct trace_resolution *resolutions, u32 resolution_count)
{
	u32 *by_index;

	if (!has_placeholders(stacks, *count))
		return 0;
	by_index = calloc(*count, sizeof(*by_index));
	if (!by_index)
		return -ENOMEM;
	number_stacks(by_index, stacks, *count, resolution_count);
	for (u32 i = 0; i < resolution_count; i++)
		if (resolutions[i].stack != TRACE_NO_STACK)
			resolutions[i].stack = by_index[resolutions[i].stack];
	*count = remove_placeholders(stacks, *count);
	*resolution = (struct stack_resolution){by_index, resolutions};
	return 0;
}

void stack_resolution_free(struct stack_resolution *resolution)
{
	free(resolution->by_index);
	*resolution = (struct stack_resolution){0};
}

static void apply_resolution(const struct stack_resolution *resolution, u32 number,
			     struct trace_event *event)
{
	static const struct trace_resolution unanswered = {.stack = TRACE_NO_STACK,
							   .reason = REASON_UNANSWERED};

	event_resolve(event, number ? &resolution->resolutions[number - 1] : &unanswered);
}

static void resolve_user(const struct stack_resolution *resolution, struct trace_event *event)
{
	u32 index = resolution->by_index[event->user];

	if (index & INDEX_IS_PLACEHOLDER)
		apply_resolution(resolution, index & ~INDEX_IS_PLACEHOLDER, event);
	else
		event->user = index;
}

bool stack_resolution_apply(const struct stack_resolution *resolution, struct trace_event *event)
{
	if (!resolution->by_index)
		return true;
	if (event->user != TRACE_NO_STACK)
		resolve_user(resolution, event);
	if (event->kernel == TRACE_NO_STACK)
		return true;
	event->kernel = resolution->by_index[event->kernel];
	return !(event->kernel & INDEX_IS_PLACEHOLDER);
}
