/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stack_switch.h"

CORE_PART bool is_left(const struct stack_switches *switches, u64 address)
{
	bool is_inside = false;

	for (u32 i = 0; i < STACK_SWITCHES_MAX; i++)
		is_inside |= i < switches->count && address >= switches->left[i].from &&
			     address <= switches->left[i].to;
	return is_inside;
}

CORE_GLOBAL int stack_switch(struct stack_switches *switches, u64 rsp, u64 caller_rsp)
{
	struct stack_range *left;
	u32 index;

	if (core_is_null(switches) || is_left(switches, caller_rsp))
		return false;
	if (switches->count >= STACK_SWITCHES_MAX)
		return caller_rsp > rsp;
	if (caller_rsp < rsp && caller_rsp + STACK_SWITCH_BYTES > switches->entered)
		return false;
	index = switches->count;
	core_one_register(index);
	left = &switches->left[index & (STACK_SWITCHES_MAX - 1)];
	left->from = switches->entered;
	left->to = rsp;
	switches->count++;
	switches->entered = caller_rsp;
	return true;
}
