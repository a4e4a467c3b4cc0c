/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The values of single events by stack and source, for the histograms of the page. The values are
 * exact up to VALUES_MAX different ones; beyond that all are rounded (distribution_round()), so
 * that the page stays small. The sums stay exact.
 */
#ifndef LIB_FLAMEGRAPH_STACK_VALUES_H
#define LIB_FLAMEGRAPH_STACK_VALUES_H

#include "flamegraph/time_cells.h"
#include "report/event/distribution.h"

#define VALUES_MAX (1U << 15)	   /* different values of each stack, over all stacks of the page */
#define VALUES_KEPT_MAX (1U << 20) /* the same while events are counted */

struct values_of_stack {
	struct intern_key key; /* name of the task, paths, source */
	struct time_cell cell; /* paths, source, thread: one of those with this name */
	struct distribution values;
};

struct stack_values {
	struct intern stacks; /* struct values_of_stack */
	u64 since_bound;      /* values that were added since the last bound() */
	u32 digits; /* significant binary digits of the values; 0: too many stacks, no values */
};

void stack_values_begin(struct stack_values *values);
void stack_values_clear(struct stack_values *values);

/* Adds an event by the paths, source and value of its cell. `task`: a pointer that is the same for
 * all threads of one name. -ENOMEM. */
int stack_values_add(struct stack_values *values, const void *task, const struct time_cell *cell);

/* Sorts the values, and bounds their number to VALUES_MAX; called once. Removes all values if there
 * are more than VALUES_MAX stacks. */
void stack_values_finish(struct stack_values *values);

static inline struct values_of_stack *stack_values_at(const struct stack_values *values, u32 index)
{
	return values->stacks.entries[index];
}

#endif
