/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Return addresses may be signed (PAC): the signature lies in the bits above the address space, and
 * a mask removes it from each address that a walk takes from a register or from the stack. Call
 * frame instructions that say where addresses are signed are passed over.
 */
#ifndef CORE_UNWINDING_ARM64_H
#define CORE_UNWINDING_ARM64_H

#define SYSCALL_CODE 0xd4000001 /* svc #0 */
#define SYSCALL_BYTES 4
#define RETURN_COLUMN REGISTER_LINK
/* Code alignment 4, data alignment -8, return column x30: gcc, assemblers. */
#define CIE_ALIGNMENTS 0x1e7804
#define CIE_ALIGNMENTS_CLANG 0x1e7801 /* 1, -8, x30 */
#define SFRAME_ABI 2
#define SLOTS_LOST_BUT_FP
#define RESULT_MAY_BE_CFA 0
#define UNWIND_CODE_RULE "arch/arm64/code_rule.c"
#define UNWIND_RETURN_SEARCH "arch/arm64/return_search.c"

CORE_PART u64 cfi_column_of(u64 reg)
{
	if (reg == REGISTER_FP)
		return COLUMN_SAVED + SLOT_FP;
	if (reg == REGISTER_LINK)
		return COLUMN_RETURN;
	return reg == REGISTER_SP ? COLUMN_SP : COLUMN_IGNORED;
}

CORE_PART bool are_usual_cie_alignments(u64 bytes)
{
	return bytes == CIE_ALIGNMENTS || bytes == CIE_ALIGNMENTS_CLANG;
}

#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c
#define CFA_AARCH64_NEGATE_RA_STATE 0x2d

CORE_PART bool is_ignored_instruction(u32 instruction)
{
	return instruction == CFA_AARCH64_NEGATE_RA_STATE ||
	       instruction == CFA_AARCH64_NEGATE_RA_STATE_WITH_PC;
}

#define UCONTEXT_GENERAL 184 /* offset of uc_mcontext.regs in the kernel's ucontext */
#define SIGNAL_CONTEXT_WORDS 33
#define SIGNAL_CONTEXT_SP 31
#define SIGNAL_CONTEXT_PC 32
#define UCONTEXT_SP (UCONTEXT_GENERAL + 8 * SIGNAL_CONTEXT_SP)
#define UCONTEXT_PC (UCONTEXT_GENERAL + 8 * SIGNAL_CONTEXT_PC)

CORE_PART u64 untag_address(u64 address)
{
	return address_without_tag(address);
}

/* The kernel saves x0 to x30, sp and pc. */
CORE_PART void set_signal_registers(const u64 saved[SIGNAL_CONTEXT_WORDS],
				    struct unwind_registers *caller)
{
	for (u32 i = 0; i < REGISTER_CODE_MASK; i++)
		caller->value[i] = saved[i];
	for (u32 i = REGISTER_THREAD + 1; i <= REGISTER_LINK; i++)
		caller->value[i] = saved[i];
	caller->value[REGISTER_FP] = untag_address(saved[REGISTER_FP]);
	caller->value[REGISTER_SP] = untag_address(saved[SIGNAL_CONTEXT_SP]);
	caller->value[REGISTER_PC] = saved[SIGNAL_CONTEXT_PC];
	caller->known = REGISTERS_ALL;
}

CORE_PART u64 strip_code_signature(const struct unwind_registers *registers, u64 address)
{
	return address & registers->value[REGISTER_CODE_MASK];
}

/* The operand of a rule by sp for a frame whose size is not known: the CFA lies at sp or higher. */
#define OPERAND_LOSES_SP 1

/*
 * A frame pointer leads to a frame record, and the record may lie anywhere in its frame: the
 * caller's stack pointer is not known from the frame pointer. Other rules that the search makes are
 * by sp, with or without OPERAND_LOSES_SP.
 */
CORE_PART u32 rule_loses_sp(const struct unwind_rule *rule)
{
	return rule->flags & RULE_FRAME_POINTER &&
	       ((rule->cfa_register ^ REGISTER_SP) | rule->operand);
}

CORE_PART void complete_caller_registers(struct unwind_registers *caller,
					 const struct unwind_registers *registers,
					 const struct unwind_rule *rule)
{
	caller->value[REGISTER_THREAD] = registers->value[REGISTER_THREAD];
	caller->value[REGISTER_CODE_MASK] = registers->value[REGISTER_CODE_MASK];
	caller->value[REGISTER_PC] = strip_code_signature(registers, caller->value[REGISTER_PC]);
	caller->value[REGISTER_FP] = untag_address(caller->value[REGISTER_FP]);
	if (rule->cfa_kind < CFA_GO_SAVED && rule->cfa_kind != CFA_SIGNAL)
		caller->value[REGISTER_GOROUTINE] = registers->value[REGISTER_GOROUTINE];
	if (rule_loses_sp(rule))
		caller->known &= ~(1U << REGISTER_SP);
}

/*
 * Computes the stack pointer of a frame that was reached by a frame pointer, so that only a lower
 * bound is known. A frame record is x29 and, at the next higher address, the return address; x29
 * points to the record.
 */
CORE_PART bool recover_cfa_register(const struct unwind_registers *registers,
				    const struct unwind_rule *rule, u64 *value)
{
	u64 slot = rule->slot[SLOT_FP], fp = registers->value[REGISTER_FP];

	if (rule->cfa_register != REGISTER_SP || rule->cfa_kind != CFA_REGISTER ||
	    !(registers->known >> REGISTER_FP & 1) || slot < 2 || slot > SLOT_WORDS_MAX ||
	    rule->slot[SLOT_RETURN] != slot - 1)
		return false;
	if (rule->base == RULE_BASE_CFA)
		*value = fp + SLOT_WORD * slot - rule->cfa_offset;
	else if (rule->base == REGISTER_SP)
		*value = fp + SLOT_WORD * slot - RULE_BASE_BYTES;
	else
		return false;
	return true;
}

CORE_PART u32 registers_have_no_caller(const struct unwind_registers *registers)
{
	return !registers->value[REGISTER_PC] && registers->known >> REGISTER_FP & 1 &&
	       !registers->value[REGISTER_FP];
}

/* bl LABEL */
CORE_PART bool call_is_direct(u64 bytes)
{
	return (bytes >> 32 & 0xfc000000) == 0x94000000;
}

CORE_PART u64 call_target(u64 return_address, u64 bytes)
{
	return return_address - 4 + ((s64)(bytes << 6) >> 38) * 4;
}

/* True after the instructions bl, blr, blraa, blrab, blraaz or blrabz. */
CORE_PART bool is_after_call(u64 bytes)
{
	u32 code = bytes >> 32;

	return call_is_direct(bytes) || (code & 0xfffffc1f) == 0xd63f0000 ||
	       (code & 0xfefff800) == 0xd63f0800;
}

#endif
