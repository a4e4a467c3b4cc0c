/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outer end of a stack of an event: complete, cut for one of the stop reasons, or missing for
 * one of the stack reasons. Reports show a cut as a marker frame, "[no_rule]", in place of the
 * unknown frames.
 */
#ifndef LIB_REPORT_STACK_END_H
#define LIB_REPORT_STACK_END_H

#include "trace/event.h"

struct stack_end {
	const char *name;   /* name of the end: "no_rule" */
	const char *marker; /* name of the marker frame: "[no_rule]" */
	const char *meaning;
};

/* Each end is one object, so ends are compared by address. `stack` NULL: a missing stack, for
 * the enum stack_reason `reason`. */
const struct stack_end *stack_end_of(const struct trace_stack *stack, u32 reason);
const struct stack_end *stack_end_of_stop(enum stop_reason stop);
const struct stack_end *stack_end_of_reason(enum stack_reason reason);

/* True if the stack had frames that are unknown. False: the stack is complete, or the task has
 * no such stack: a task in user mode has no kernel stack, a kernel thread has no user stack. */
bool stack_end_is_cut(const struct stack_end *end);

#endif
