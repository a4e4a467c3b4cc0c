/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a stack of an event ends at its outer side: at its root, cut there for one of the stop
 * reasons, or missing as a whole for one of the stack reasons. Reports show a cut as a marker
 * frame, "[no_rule]", in the place of the frames that are not known.
 */
#ifndef LIB_REPORT_STACK_END_H
#define LIB_REPORT_STACK_END_H

#include "trace/event.h"

struct stack_end {
	const char *name;   /* "no_rule" */
	const char *marker; /* "[no_rule]" */
	const char *meaning;
};

/* One object for each end, so that they can be compared by address. `stack` NULL: there is none,
 * for this enum stack_reason. */
const struct stack_end *stack_end_of(const struct trace_stack *stack, u32 reason);
const struct stack_end *stack_end_of_stop(enum stop_reason stop);
const struct stack_end *stack_end_of_reason(enum stack_reason reason);

/* Whether frames that were there are not known. Otherwise the stack is whole, or there was none to
 * be had: in user mode there is no kernel stack, kernel threads have no user stack. */
bool stack_end_is_cut(const struct stack_end *end);

#endif
