/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CORE_UNWINDING_X86_64_H
#define CORE_UNWINDING_X86_64_H

#define SYSCALL_CODE 0x050f
#define SYSCALL_BYTES 2
#define RETURN_COLUMN REGISTER_RIP
#define CIE_ALIGNMENTS 0x107801 /* 1, -8, rip */
#define SFRAME_ABI 3
#define SLOTS_LOST_BUT_FP                                                                          \
	[SLOT_RBX] = SLOT_LOST, [SLOT_R12] = SLOT_LOST, [SLOT_R13] = SLOT_LOST,                    \
	[SLOT_R14] = SLOT_LOST, [SLOT_R15] = SLOT_LOST
#define RESULT_MAY_BE_CFA 1
#define JAVA_HAS_RULES
#define UNWIND_CODE_RULE "arch/x86_64/code_rule.c"
#define UNWIND_RETURN_SEARCH "arch/x86_64/return_search.c"

/* The columns of registers 0 to 15, four bits for each register. */
#define COLUMN_OF_SLOT(slot, reg) | (u64)(COLUMN_SAVED + (slot)) << 4 * (reg)
#define COLUMNS_OF_16 ((u64)COLUMN_SP << 4 * REGISTER_RSP EACH_SAVED_REGISTER(COLUMN_OF_SLOT))

CORE_PART u64 cfi_column_of(u64 reg)
{
	u64 column = COLUMNS_OF_16 >> (4 * reg & 63);

	if (reg >= REGISTER_RIP)
		column = reg == REGISTER_RIP ? COLUMN_RETURN : COLUMN_IGNORED;
	return column;
}

CORE_PART bool are_usual_cie_alignments(u64 bytes)
{
	return bytes == CIE_ALIGNMENTS;
}

CORE_PART bool is_ignored_instruction(u32 instruction)
{
	(void)instruction;
	return false;
}

#define UCONTEXT_GENERAL 40 /* offset of uc_mcontext in the kernel's ucontext */
#define SIGNAL_CONTEXT_WORDS 17
#define UCONTEXT_SP 160
#define UCONTEXT_PC 168

/* The kernel saves r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
CORE_PART void set_signal_registers(const u64 saved[SIGNAL_CONTEXT_WORDS],
				    struct unwind_registers *caller)
{
	for (u32 i = 0; i < 8; i++)
		caller->value[REGISTER_R8 + i] = saved[i];
	caller->value[REGISTER_RDI] = saved[8];
	caller->value[REGISTER_RSI] = saved[9];
	caller->value[REGISTER_RBP] = saved[10];
	caller->value[REGISTER_RBX] = saved[11];
	caller->value[REGISTER_RDX] = saved[12];
	caller->value[REGISTER_RAX] = saved[13];
	caller->value[REGISTER_RCX] = saved[14];
	caller->value[REGISTER_RSP] = saved[15];
	caller->value[REGISTER_RIP] = saved[16];
	caller->known = REGISTERS_ALL;
}

CORE_PART u64 strip_code_signature(const struct unwind_registers *registers, u64 address)
{
	(void)registers;
	return address;
}

CORE_PART u64 untag_address(u64 address)
{
	return address;
}

CORE_PART void complete_caller_registers(struct unwind_registers *caller,
					 const struct unwind_registers *registers,
					 const struct unwind_rule *rule)
{
	(void)rule;
	caller->value[REGISTER_THREAD] = registers->value[REGISTER_THREAD];
}

CORE_PART u32 rule_loses_sp(const struct unwind_rule *rule)
{
	(void)rule;
	return 0;
}

CORE_PART bool recover_cfa_register(const struct unwind_registers *registers,
				    const struct unwind_rule *rule, u64 *value)
{
	(void)registers;
	(void)rule;
	(void)value;
	return false;
}

#define REGISTER_IS_ZERO(registers, reg)                                                           \
	(!((registers)->known >> (reg)&1) || !(registers)->value[reg])

/*
 * The stack of a coroutine begins at a frame whose caller has such registers. Ruby puts 0 at the
 * place of the first function's return address, and 0 into the registers; D puts the end of the
 * stack, which is the CFA, into rbp. By the ABI 0 in rbp marks the outermost frame, and the CFA of
 * each frame is a multiple of 16. An overwritten return address or a wrong CFA leaves registers
 * that are not 0.
 */
CORE_PART u32 registers_have_no_caller(const struct unwind_registers *registers)
{
	u64 rsp = registers->value[REGISTER_RSP], rbp = registers->value[REGISTER_RBP];

	return !registers->value[REGISTER_RIP] && !(rsp & 15) &&
	       registers->known >> REGISTER_RBP & 1 && (!rbp || rbp == rsp) &&
	       REGISTER_IS_ZERO(registers, REGISTER_RBX) &&
	       REGISTER_IS_ZERO(registers, REGISTER_R12) &&
	       REGISTER_IS_ZERO(registers, REGISTER_R13) &&
	       REGISTER_IS_ZERO(registers, REGISTER_R14) &&
	       REGISTER_IS_ZERO(registers, REGISTER_R15);
}

/*
 * 0 if the bytes are call *operand (0xff, then a byte whose bits 3 to 5 are 2), else a number below
 * 2^14.
 */
CORE_PART u64 indirect_call_difference(u64 bytes)
{
	return (bytes & 0x38ff) ^ 0x10ff;
}

/* True if the eight bytes end with call rel32. */
CORE_PART bool call_is_direct(u64 bytes)
{
	return (u8)(bytes >> 24) == 0xe8;
}

CORE_PART u64 call_target(u64 return_address, u64 bytes)
{
	return return_address + (s64)(s32)(bytes >> 32);
}

/*
 * The call may have any length. Results are multiplied, because the verifier would follow both
 * results of a comparison.
 */
CORE_PART bool is_after_call(u64 bytes)
{
	return call_is_direct(bytes) ||
	       indirect_call_difference(bytes >> 8) * indirect_call_difference(bytes >> 16) *
			       indirect_call_difference(bytes >> 32) ==
		       0 ||
	       indirect_call_difference(bytes >> 40) * indirect_call_difference(bytes >> 48) == 0;
}

#endif
