/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of all ends, made from the lists of stop reasons and stack reasons. */
#include "report/event/stack_end.h"

#include <stddef.h>

#define FIRST_REASON STOP_COUNT
#define TRUNCATED (FIRST_REASON + REASON_COUNT)

#define STOP_END(id, name, meaning) [STOP_##id] = {name, "[" name "]", meaning},
#define REASON_END(id, name, meaning) [FIRST_REASON + REASON_##id] = {name, "[" name "]", meaning},

static const struct stack_end ends[] = {
	[TRUNCATED] = {"truncated", "[truncated]", "cut at the depth limit"},
	STOP_REASONS(STOP_END) STACK_REASONS(REASON_END)};

const struct stack_end *stack_end_of_stop(enum stop_reason stop)
{
	return &ends[stop];
}

const struct stack_end *stack_end_of_reason(enum stack_reason reason)
{
	return &ends[FIRST_REASON + reason];
}

const struct stack_end *stack_end_of(const struct trace_stack *stack, u32 reason)
{
	if (!stack)
		return stack_end_of_reason(reason);
	if (stack->flags & STACK_TRUNCATED)
		return &ends[TRUNCATED];
	return STACK_STOP(stack->flags) ? stack_end_of_stop(STACK_STOP(stack->flags))
					: stack_end_of_stop(STOP_ROOT);
}

bool stack_end_is_cut(const struct stack_end *end)
{
	static const size_t no_loss[] = {
		STOP_NONE,
		STOP_ROOT,
		FIRST_REASON + REASON_NOT_ASKED,
		FIRST_REASON + REASON_NO_FRAMES,
		FIRST_REASON + REASON_REFUSED,
		FIRST_REASON + REASON_INTERRUPT,
	};

	for (size_t i = 0; i < sizeof(no_loss) / sizeof(*no_loss); i++)
		if (end == &ends[no_loss[i]])
			return false;
	return true;
}
