/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules for code that no unwind table covers: from its bytes if they suffice (stubs of the PLT,
 * prologues, signal trampolines), else by frame pointer. A rule follows from the code around the pc
 * alone and is made each time: generated code may have changed since, and reading it costs no more
 * than a check that it has not changed.
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
 * The number of the NEAR_CODE_BEFORE bytes before a pc that are outside of its mapping, and the
 * number of bytes from the pc on that are inside.
 */
CORE_GLOBAL int near_code_missing(u64 pc, u64 start);
CORE_GLOBAL int near_code_after(u64 pc, u64 end);

/*
 * Makes the rule of the pc that `code` is around. `word` is 4 in a 32-bit task, else 8; `result` is
 * REGISTER_RESULT of an interrupted task. Returns 0 if the rule depends on this register, so that
 * it must not be cached.
 */
CORE_GLOBAL int code_rule(struct near_code *code, struct unwind_rule *rule, u32 word,
			  u32 is_interrupted, u64 result);

#endif
