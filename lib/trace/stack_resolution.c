/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Promises are never chained, so one step resolves each: first every real stack gets its new index,
 * then every promise takes over that of its answer. */
#include "trace/stack_resolution.h"

#include <errno.h>
#include <stdlib.h>

bool placeholder_answer(struct trace_stack *stacks, u32 count, u32 promise,
			const struct trace_answer *answer, u32 number)
{
	if (promise >= count || !is_placeholder(&stacks[promise]) || stacks[promise].id)
		return false;
	if (answer->stack != TRACE_NO_STACK && is_placeholder(&stacks[answer->stack]))
		return false;
	stacks[promise].id = number;
	return true;
}

static bool has_placeholders(const struct trace_stack *stacks, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (is_placeholder(&stacks[i]))
			return true;
	return false;
}

/* Numbers beyond the answers are left from a block that was damaged further on. */
static struct trace_answer answer_of(const struct trace_stack *placeholder,
				     const struct trace_answer *answers, u32 count)
{
	if (placeholder->id && placeholder->id <= count)
		return answers[placeholder->id - 1];
	return (struct trace_answer){.stack = TRACE_NO_STACK, .reason = REASON_UNANSWERED};
}

static void number_stacks(struct resolved_index *by_index, const struct trace_stack *stacks,
			  u32 count, const struct trace_answer *answers, u32 answer_count)
{
	u32 next = 0;

	for (u32 i = 0; i < count; i++) {
		by_index[i].is_promise = is_placeholder(&stacks[i]);
		if (by_index[i].is_promise)
			by_index[i].answer = answer_of(&stacks[i], answers, answer_count);
		else
			by_index[i].answer.stack = next++;
	}
}

static void resolve_promises(struct resolved_index *by_index, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct trace_answer *answer = &by_index[i].answer;

		if (by_index[i].is_promise && answer->stack != TRACE_NO_STACK)
			answer->stack = by_index[answer->stack].answer.stack;
	}
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
			   u32 *count, const struct trace_answer *answers, u32 answer_count)
{
	struct resolved_index *by_index;

	if (!has_placeholders(stacks, *count))
		return 0;
	by_index = calloc(*count, sizeof(*by_index));
	if (!by_index)
		return -ENOMEM;
	number_stacks(by_index, stacks, *count, answers, answer_count);
	resolve_promises(by_index, *count);
	*count = remove_placeholders(stacks, *count);
	resolution->by_index = by_index;
	return 0;
}

void stack_resolution_free(struct stack_resolution *resolution)
{
	free(resolution->by_index);
	resolution->by_index = NULL;
}

static void apply_answer(const struct trace_answer *answer, struct trace_event *event)
{
	event->user = answer->stack;
	event->user_reason = answer->reason;
	if (!event->leaf)
		event->leaf = answer->leaf;
}

bool stack_resolution_apply(const struct stack_resolution *resolution, struct trace_event *event)
{
	const struct resolved_index *by_index = resolution->by_index;

	if (!by_index)
		return true;
	if (event->user != TRACE_NO_STACK)
		apply_answer(&by_index[event->user].answer, event);
	if (event->kernel == TRACE_NO_STACK)
		return true;
	if (by_index[event->kernel].is_promise)
		return false;
	event->kernel = by_index[event->kernel].answer.stack;
	return true;
}
