/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef STACKMAP_ABI_REGISTERS_X86_64_H
#define STACKMAP_ABI_REGISTERS_X86_64_H

#include "arch/numbers_x86_64.h"

enum unwind_register {
	REGISTER_RESULT = REGISTER_RAX,
	REGISTER_FP = REGISTER_RBP,
	REGISTER_SP = REGISTER_RSP,
	REGISTER_PC = REGISTER_RIP,
	REGISTER_LINK = REGISTER_PC,
	REGISTER_COUNT,
	REGISTER_THREAD = REGISTER_COUNT, /* the thread pointer: the base address of fs */
	REGISTER_GOROUTINE = REGISTER_THREAD,
};

#define REGISTERS_ALL ((1U << REGISTER_COUNT) - 1)

ABI_INLINE u32 is_table_register(u64 reg)
{
	return reg < REGISTER_RIP;
}

enum rule_slot { SLOT_FP = SLOT_RBP, SLOT_RETURN = SLOT_R15 + 1, SLOT_COUNT };

#define EACH_SAVED_REGISTER(X)                                                                     \
	X(SLOT_RBX, REGISTER_RBX)                                                                  \
	X(SLOT_RBP, REGISTER_RBP)                                                                  \
	X(SLOT_R12, REGISTER_R12)                                                                  \
	X(SLOT_R13, REGISTER_R13)                                                                  \
	X(SLOT_R14, REGISTER_R14)                                                                  \
	X(SLOT_R15, REGISTER_R15)

#define RETURN_MAY_BE_IN_REGISTER 0
#define RETURN_IS_BELOW_BASE 0
#define REGISTERS_ELF_MACHINE 62
#define COMPAT_IS_UNWOUND 1
#define RULE_BASE_WORDS 1
#define GOROUTINE_IS_IN_REGISTER 0
#define THREAD_ID_REACH 1
#define STEP_MASK_SHIFT 0

#endif
