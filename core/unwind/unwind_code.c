/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind.h"

#define WORD 8

/* Reads the code before the pc, within its mapping, and `after` bytes from the pc on. */
CORE_PART bool code_fetch(struct unwind *unwind, u32 after)
{
	u64 pc = unwind->registers.value[REGISTER_PC];
	u32 missing = near_code_missing(pc, unwind->mapping.start);

	core_one_register(missing);
	core_one_register(after);
	return missing <= NEAR_CODE_BEFORE && after <= NEAR_CODE_AFTER &&
	       unwind_fetch(unwind, pc - (NEAR_CODE_BEFORE - missing),
			    (u8 *)unwind->near.word + missing, NEAR_CODE_BEFORE - missing + after);
}

/* Reads the code around the pc, or at least one instruction. */
CORE_PART bool code_enter(struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC];
	u32 after = near_code_after(pc, unwind->mapping.end);

	near_code_clear(&unwind->near);
	unwind->code_seen = pc + after;
	if (code_fetch(unwind, after))
		return true;
	unwind->code_seen = pc + WORD;
	return code_fetch(unwind, WORD);
}

/*
 * True if the rule is independent of the bounds of the mapping: a process may split a mapping
 * anywhere.
 */
CORE_PART bool is_of_the_code(const struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC], after = unwind->code_seen - pc;

	return pc - unwind->mapping.start >= NEAR_CODE_BEFORE &&
	       (after == NEAR_CODE_AFTER || unwind->near.at + NEAR_CODE_STEP <= after);
}

CORE_SUBPROGRAM u32 unwind_code_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	if (!code_enter(unwind))
		return unwind_fetch_stop(unwind);
	if (!code_rule(&unwind->near, rule, unwind->is_compat ? WORD / 2 : WORD,
		       unwind->is_interrupted, unwind->registers.value[REGISTER_RESULT]) ||
	    !is_of_the_code(unwind))
		unwind->code_seen = CODE_UNREADABLE;
	return STOP_NONE;
}
