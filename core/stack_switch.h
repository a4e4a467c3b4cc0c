/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The caller of a frame lies further out, at a higher address, unless the two are on different
 * stacks: a coroutine calls code on the stack of its thread (OCaml 5, cgo), or a function continues
 * on a stack of its own at higher addresses (Rust's stacker). A walk may step to a lower address
 * under these conditions:
 *
 *   - the rule of the frame is not guessed,
 *   - the caller's frame is at least STACK_SWITCH_BYTES below all frames of the current stack:
 *     memory nearer than that holds frames of functions that have returned, which are full of
 *     return addresses,
 *   - the caller's frame lies on no stack that the walk has left before,
 *   - and the return address lies after a call, or the rule says that the caller was interrupted.
 *     The walk checks this condition.
 *
 * A walk remembers STACK_SWITCHES_MAX stacks; after that many it steps to no lower address.
 */
#ifndef CORE_STACK_SWITCH_H
#define CORE_STACK_SWITCH_H

#include <stdbool.h>

#include "env.h"
#include "rule.h"
#include "walk_memory.h"

#define STACK_SWITCH_BYTES 65536
#define STACK_SWITCH_WORD 8 /* the gap in bytes if the rule says that the stack changes */

/*
 * True if a walk may step from rsp to caller_rsp. The caller calls this function for steps for
 * which is_step_to_other_stack() is true, and for steps that are known to change the stack. `gap`
 * is the smallest distance of another stack below the current one. An allowed step is recorded as a
 * change of stacks. When STACK_SWITCHES_MAX changes are recorded, only steps to higher addresses
 * are allowed, and no more changes are recorded. Any context.
 */
CORE_GLOBAL int check_stack_switch(struct stack_switches *switches, u64 rsp, u64 caller_rsp,
				   u64 gap);

/* True for a step to another stack, or to a caller that does not lie at a higher address. */
ABI_INLINE bool is_step_to_other_stack(u64 rsp, u64 caller_rsp)
{
	return caller_rsp - rsp - 1 >= STACK_SWITCH_BYTES;
}

/*
 * The smallest distance in bytes of another stack below the current one: only one word for a rule
 * with RULE_SWITCHED.
 */
ABI_INLINE u64 least_distance_of_other_stack(u32 flags)
{
	return flags & RULE_SWITCHED ? STACK_SWITCH_WORD : STACK_SWITCH_BYTES;
}

#endif
