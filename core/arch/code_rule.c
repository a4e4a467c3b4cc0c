/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compiles the rules of code without tables for the architecture (arch/code_rule.h). */
#include "arch/code_rule.h"
#include "arch/unwinding.h"

CORE_GLOBAL int near_code_bytes_before_mapping(u64 pc, u64 start)
{
	return pc - start < NEAR_CODE_BEFORE ? NEAR_CODE_BEFORE - (pc - start) : 0;
}

CORE_GLOBAL int near_code_bytes_after_pc(u64 pc, u64 end)
{
	return end - pc < NEAR_CODE_AFTER ? end - pc : NEAR_CODE_AFTER;
}

#include UNWIND_CODE_RULE
