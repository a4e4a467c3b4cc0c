/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stack_switch.h"

CORE_PART u64 is_on_abandoned_stack(const struct stack_switches *switches, u64 address)
{
	u64 is_inside = 0, count = switches->count;

	core_one_register(
		count); /* without this, the compiler would compare the number, and make a branch */
	for (u32 i = 0; i < STACK_SWITCHES_MAX; i++) {
		const struct stack_range *left = &switches->left[i];

		is_inside |= is_below(i, count) & ~is_below(address, left->from) &
			     ~is_below(left->to, address);
	}
	return is_inside;
}

CORE_GLOBAL int check_stack_switch(struct stack_switches *switches, u64 rsp, u64 caller_rsp,
				   u64 gap)
{
	struct stack_range *left;
	u64 is_refused, index;

	if (core_is_null(switches))
		return false;
	index = switches->count;
	core_one_register(index);
	/*
	 * The step is refused if the caller's frame lies on a stack that the walk has left, at a
	 * kernel address, or less than the gap below the current stack.
	 */
	is_refused =
		is_on_abandoned_stack(switches, caller_rsp) | caller_rsp >> 63 |
		(is_below(caller_rsp, rsp + 1) & (is_below(switches->entered, caller_rsp + gap) |
						  is_below(STACK_SWITCHES_MAX - 1, index)));
	if (is_refused)
		return false;
	if (index >= STACK_SWITCHES_MAX)
		return true;
	core_one_register(index);
	left = &switches->left[index & (STACK_SWITCHES_MAX - 1)];
	left->from = switches->entered;
	left->to = rsp;
	switches->count++;
	switches->entered = caller_rsp;
	return true;
}
