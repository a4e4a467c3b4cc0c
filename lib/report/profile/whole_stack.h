/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of a row as one list of labels, the same for every view, so that their sums agree:
 * kernel frames innermost, user frames around them. A marker, "[no_rule]", stands at the outer end
 * of a side that is cut, and for a stack without any frame.
 */
#ifndef LIB_REPORT_WHOLE_STACK_H
#define LIB_REPORT_WHOLE_STACK_H

#include "profile.h"

struct whole_stack {
	u32 *labels; /* innermost first */
	u32 depth;   /* never 0 */
	u32 room;
};

/* *stack is all zero at first and is reused for the next row. -ENOMEM. */
int whole_stack_set(struct whole_stack *stack, const struct profile *profile,
		    const struct profile_row *row);
void whole_stack_free(struct whole_stack *stack);

#endif
