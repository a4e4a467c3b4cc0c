/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules for code that no unwind table covers: by its bytes where these say all (stubs of the PLT,
 * prologues, signal trampolines), else by frame pointer. A rule follows from the code around the pc
 * alone, and is made anew each time: generated code may be other code the next time, and to read it
 * costs no more than to make sure that it is not.
 */
#ifndef CORE_CODE_RULE_H
#define CORE_CODE_RULE_H

#include "env.h"
#include "near_code.h"
#include "rule.h"

CORE_PART void near_code_clear(struct near_code *code)
{
	for (u32 i = 0; i < NEAR_CODE_BYTES / 8; i++)
		code->word[i] = 0;
}

/* How many of the bytes before a pc do not lie in its mapping, and how many from it on do. */
CORE_GLOBAL int near_code_missing(u64 pc, u64 start);
CORE_GLOBAL int near_code_after(u64 pc, u64 end);

/* Makes the rule of the pc that `code` is around. `word` is 4 of a 32-bit task, else 8; `rax` is
 * what an interrupted task has there. 0: it holds for such registers alone. */
CORE_GLOBAL int code_rule(struct near_code *code, struct unwind_rule *rule, u32 word,
			  u32 is_interrupted, u64 rax);

#endif
