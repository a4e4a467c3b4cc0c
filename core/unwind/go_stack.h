/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The step from Go's scheduler stack back to the goroutine's stack. Go's runtime runs its own work,
 * and C functions, on a second stack of the thread (g0). That stack holds no pointer to the caller.
 * The runtime finds the goroutine's stack through its own data structures. A walk does the same,
 * with the offsets that the runtime's instructions contain (lib/symbol/go/):
 *
 *   CFA_GO_SAVED  g = *(thread pointer + cfa_offset), m = g->m, goroutine = m->curg,
 *                 CFA = goroutine->sched.sp + 8 * operand; on arm64 g is in x28, and cfa_offset is
 *                 that of g->m
 *   CFA_GO_DEPTH  goroutine = *(rsp + cfa_offset),
 *                 CFA = goroutine->stack.hi - *(rsp + depth) + 8 * operand
 *
 * The return address follows a call. The rule's slots say where it and the frame pointer are saved
 * below the CFA. The step gives the caller's stack pointer, pc and frame pointer, and on arm64 the
 * x30 of a caller of morestack(); the caller's other registers are not known. On arm64 x28 holds
 * the running g in Go's code; on the scheduler's stack that is g0. C functions may change x28 while
 * they run, so a walk checks that x28->m->g0 is x28.
 *
 * A function whose stack is too small calls morestack(), and is either resumed, with a larger
 * stack, or suspended. GO_SLOT_RBP marks the rule of morestack(): the caller's pc and frame pointer
 * are those that the goroutine has saved. On arm64 the goroutine has also saved the caller's x30,
 * in the word before the frame pointer. If the goroutine was suspended, the thread has no current
 * goroutine, and the stack ends here, as Go's own traces do. Between the choice of the next
 * goroutine and the jump to it, the thread's data names the wrong goroutine. Therefore the frame
 * pointer is lost in the scheduler (go_function_frame_pointer_rule() in lib/symbol/go/go_rows.c).
 * If it is not known, the step from morestack() ends with STOP_UNKNOWN_REGISTER.
 */
#ifndef CORE_GO_STACK_H
#define CORE_GO_STACK_H

#include <stdbool.h>

#include "arch/return_search.h"
#include "env.h"
#include "rule.h"
#include "walk_memory.h"

/* A function that reads a word of the task's memory. Non-zero: the word is unreadable. */
typedef long (*go_stack_read)(void *memory, u64 address, u64 *word);

/*
 * a if `is_first` is 1, b if it is 0. The choice is a multiplication, because the verifier follows
 * both ways of a branch.
 */
CORE_PART u64 select_without_branch(u64 is_first, u64 a, u64 b)
{
	core_one_register(is_first);
	return b + is_first * (a - b);
}

/* 1 if the slot number is not 0. */
CORE_PART u64 go_slot_is_used(u32 slot)
{
	return (slot + 0xff) >> 8;
}

/*
 * Finds the caller of a frame by its rule, of kind CFA_GO_SAVED or CFA_GO_DEPTH. Both kinds run the
 * same reads, with addresses that are chosen without a branch. After a failed read, the next reads
 * are near address 0 and fail, too.
 */
CORE_PART u32 go_caller_find(const struct unwind_rule *rule,
			     const struct unwind_registers *registers, go_stack_read read,
			     void *memory, struct go_caller *caller)
{
	u64 rsp = registers->value[REGISTER_SP], base = registers->value[REGISTER_GOROUTINE];
	u64 is_depth = rule->cfa_kind - CFA_GO_SAVED;
	u64 is_morestack =
		select_without_branch(is_depth, 0, go_slot_is_used(rule->slot[GO_SLOT_RBP]));
	u64 is_kept = (1 - is_morestack) & (1 - go_slot_is_used(rule->slot[SLOT_FP]));
	u64 first = select_without_branch(is_depth, rsp, base) + rule->cfa_offset;
	u64 knows_rbp = registers->known >> REGISTER_FP & 1;
	u64 stack;
	long error = read(memory, first, &caller->goroutine), is_lost;

	if (GOROUTINE_IS_IN_REGISTER) {
		u64 m_or_word = select_without_branch(is_depth, first, caller->goroutine);

		if (is_depth && !(registers->known >> REGISTER_SP & 1))
			return STOP_UNKNOWN_REGISTER;
		caller->depth = 0;
		error |= read(memory, m_or_word, &caller->depth);
		if (!is_depth && caller->depth != base) /* the first word of m is g0 */
			return STOP_UNKNOWN_REGISTER;
	} else {
		error |= read(memory,
			      select_without_branch(is_depth, first,
						    caller->goroutine + 8 * rule->slot[GO_SLOT_M]),
			      &caller->goroutine);
	}
	error |= read(memory,
		      select_without_branch(is_depth, first,
					    caller->goroutine + 8 * rule->slot[GO_SLOT_GOROUTINE]),
		      &caller->goroutine);
	if (!caller->goroutine)
		return error ? (base ? STOP_STACK_UNREADABLE : STOP_UNKNOWN_REGISTER) : STOP_ROOT;
	if (!(knows_rbp | (1 - is_morestack)))
		return STOP_UNKNOWN_REGISTER;
	stack = caller->goroutine + 8 * rule->slot[GO_SLOT_STACK];
	error |= read(memory, stack, &caller->cfa);
	error |= read(memory,
		      select_without_branch(is_depth, rsp + 8 * rule->slot[GO_SLOT_DEPTH], stack),
		      &caller->depth);
	caller->cfa += 8 * rule->operand - is_depth * caller->depth;
	error |= read(memory,
		      select_without_branch(is_morestack, stack + 8,
					    caller->cfa - 8 * rule->slot[SLOT_RETURN]),
		      &caller->pc);
	error |= read(memory, caller->pc - 8, &caller->before);
	is_lost = read(memory,
		       select_without_branch(is_morestack,
					     caller->goroutine + 8 * rule->slot[GO_SLOT_RBP],
					     caller->cfa - 8 * rule->slot[SLOT_FP]),
		       &caller->saved_rbp);
	caller->link = 0;
	if (GOROUTINE_IS_IN_REGISTER && is_morestack)
		error |= read(memory, caller->goroutine + 8 * rule->slot[GO_SLOT_RBP] - 8,
			      &caller->link);
	caller->rbp =
		select_without_branch(is_kept, registers->value[REGISTER_FP], caller->saved_rbp);
	caller->knows_rbp = is_lost ? 0 : select_without_branch(is_kept, knows_rbp, 1);
	if (error)
		return STOP_STACK_UNREADABLE;
	if (caller->cfa & 7)
		return STOP_UNALIGNED;
	return is_after_call(caller->before) ? STOP_NONE : STOP_NO_PROGRESS;
}

#endif
