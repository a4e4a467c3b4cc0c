/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules for code that no unwind table covers: from its bytes if they suffice (stubs of the PLT,
 * prologues, signal trampolines), else by frame pointer. A rule depends on the code around the pc
 * alone and is made at each step: generated code may have changed since the last step, and reading
 * the code costs no more than a check that it is unchanged.
 */
#ifndef CORE_CODE_RULE_H
#define CORE_CODE_RULE_H

#include "arch/unwinding.h"
#include "env.h"
#include "rule.h"
#include "walk_memory.h"

CORE_PART void near_code_clear(struct near_code *code)
{
	for (u32 i = 0; i < NEAR_CODE_BYTES / 8; i++)
		code->word[i] = 0;
}

/*
 * near_code_bytes_before_mapping(): how many of the NEAR_CODE_BEFORE bytes before a pc are outside
 * of the pc's mapping, which begins at `start`. near_code_bytes_after_pc(): how many bytes from the
 * pc on can be read before the end of its mapping, at most NEAR_CODE_AFTER.
 */
CORE_GLOBAL int near_code_bytes_before_mapping(u64 pc, u64 start);
CORE_GLOBAL int near_code_bytes_after_pc(u64 pc, u64 end);

/*
 * Makes the rule of a pc from the code around it. `word` is 4 in a 32-bit task, else 8; `result` is
 * REGISTER_RESULT of an interrupted task. Returns 0 if the rule depends on this register and
 * therefore must not be cached.
 */
CORE_GLOBAL int code_rule(struct near_code *code, struct unwind_rule *rule, u32 word,
			  u32 is_interrupted, u64 result);

#endif
