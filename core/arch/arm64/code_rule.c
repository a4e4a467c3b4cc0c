/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Only an interrupted frame can be at any instruction. A frame that made a call is after the call
 * instruction, with its frame record stored. Stubs and the first and last instructions of functions
 * are recognised in interrupted frames only: the return address is in x30 there. All other code is
 * assumed to keep a frame pointer, and the stack is searched for a proof (return_search.c).
 *
 * Stubs of the PLT (ELF for the Arm 64-bit Architecture, "Procedure linkage table") leave sp and
 * x30 unchanged, except PLT0:
 *
 *   PLT0   [bti c]; stp x16, x30, [sp, #-16]!; adrp x16; ldr x17, [x16]; add x16, x16; br x17
 *   PLTn   [bti c]; adrp x16; ldr x17, [x16]; add x16, x16; [autia1716]; br x17
 *
 * No unwind table covers the kernel's signal trampoline. A signal handler returns to the
 * trampoline's first instruction, where sp points to the signal frame: siginfo, then the ucontext.
 */
#include <stdbool.h>

#include "arch/code_rule.h"

#define WORD 8
#define WORDS_BEFORE (NEAR_CODE_BEFORE / WORD)
#define SIGINFO_BYTES 128
#define RECORD_BYTES 16
#define STUB_INSTRUCTIONS 5 /* the most instructions of PLT0 between its stp and its br */

/* Instructions, and masks for those with operands. */
#define MOV_139_X8 0xd2801168
#define BTI 0xd503241f /* bti, bti c, bti j, bti jc */
#define BTI_MASK 0xffffff3f
#define PACIASP 0xd503233f
#define PACIBSP 0xd503237f
#define RET 0xd65f03c0
#define RETAA 0xd65f0bff
#define RETAB 0xd65f0fff
#define STP_FP_LINK 0xa9807bfd /* stp x29, x30, [sp, #-N]! */
#define LDP_FP_LINK 0xa8c07bfd /* ldp x29, x30, [sp], #N */
#define PAIR_MASK 0xffc07fff
#define STR_LINK 0xf8000ffe /* str x30, [sp, #-N]! */
#define STR_LINK_MASK 0xffe00fff
#define STP_X16_LINK 0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */
#define ADRP_X16 0x90000010
#define ADRP_MASK 0x9f00001f
#define LDR_X17_X16 0xf9400211
#define ADD_X16_X16 0x91000210
#define STUB_MASK 0xffc003ff
#define AUTIA1716 0xd503219f
#define BR_X17 0xd61f0220

/* The instructions around a pc. */
struct instructions {
	u32 before[2]; /* the instructions before the pc, the nearest one first */
	u32 at[2];
};

/* The frame size in bytes that an stp or ldp with write-back allocates or frees. */
CORE_PART s64 writeback_bytes(u32 code)
{
	return ((s64)((u64)code << 42) >> 57) * WORD;
}

/* The rule of a frame whose return address is in x30, and whose sp is the caller's. */
CORE_PART void make_link_rule(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){.cfa_register = REGISTER_SP, .base = RULE_BASE_CFA};
}

/* The rule of a frame of `bytes` bytes whose frame record lies at its lowest address. */
CORE_PART void make_frame_record_rule(struct unwind_rule *rule, u64 bytes)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_SP,
		.cfa_offset = bytes,
		.base = RULE_BASE_CFA,
		.slot = {[SLOT_FP] = bytes / WORD, [SLOT_RETURN] = bytes / WORD - 1},
	};
}

CORE_PART void make_frame_pointer_rule(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_FP,
		.cfa_offset = RECORD_BYTES,
		.base = RULE_BASE_CFA,
		.flags = RULE_FRAME_POINTER,
		.slot = {[SLOT_FP] = 2, [SLOT_RETURN] = 1},
	};
}

CORE_PART void make_signal_frame_rule(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_kind = CFA_SIGNAL,
		.cfa_register = REGISTER_SP,
		.cfa_offset = SIGINFO_BYTES,
		.base = RULE_BASE_CFA,
		.flags = RULE_SIGNAL,
	};
}

CORE_PART bool is_signal_return(const struct instructions *code)
{
	return (code->at[0] == MOV_139_X8 && code->at[1] == SYSCALL_CODE) ||
	       (code->before[0] == MOV_139_X8 && code->at[0] == SYSCALL_CODE) ||
	       (code->before[1] == MOV_139_X8 && code->before[0] == SYSCALL_CODE);
}

CORE_PART bool is_plt_stub_instruction(u32 code)
{
	return (code & ADRP_MASK) == ADRP_X16 || (code & STUB_MASK) == LDR_X17_X16 ||
	       (code & STUB_MASK) == ADD_X16_X16 || code == AUTIA1716 || code == BR_X17;
}

/* The instruction at distance i before the pc; 0 is the instruction directly before it. */
CORE_PART u32 instruction_before_pc(const struct near_code *near, u32 i)
{
	return near->word[WORDS_BEFORE - 1 - i / 2] >> (i % 2 ? 0 : 32);
}

/* True in PLT0, after its first instruction, which pushes x30. */
CORE_PART bool has_pushed_link(const struct near_code *near)
{
	for (u32 i = 0; i < STUB_INSTRUCTIONS; i++) {
		u32 code = instruction_before_pc(near, i);

		if (code == STP_X16_LINK)
			return true;
		if (!is_plt_stub_instruction(code))
			return false;
	}
	return false;
}

/* True if the instruction is the first or the last one of a function. */
CORE_PART bool is_function_edge(u32 code)
{
	return (code & BTI_MASK) == BTI || code == PACIASP || code == PACIBSP || code == RET ||
	       code == RETAA || code == RETAB || code == STP_X16_LINK ||
	       (code & PAIR_MASK) == STP_FP_LINK || (code & STR_LINK_MASK) == STR_LINK;
}

/*
 * Makes the rule if the pc is at an instruction where only an interrupted frame can be. False: the
 * pc is in other code.
 */
CORE_PART bool make_interrupted_rule(const struct near_code *near, const struct instructions *code,
				     struct unwind_rule *rule)
{
	s64 pushed = -writeback_bytes(code->before[0]);

	if (is_plt_stub_instruction(code->at[0])) {
		make_link_rule(rule);
		if (has_pushed_link(near)) {
			rule->cfa_offset = RECORD_BYTES;
			rule->slot[SLOT_RETURN] = 1;
		}
		return true;
	}
	if (is_function_edge(code->at[0])) {
		make_link_rule(rule);
		return true;
	}
	if ((code->before[0] & PAIR_MASK) == STP_FP_LINK && pushed >= RECORD_BYTES) {
		make_frame_record_rule(rule, pushed);
		return true;
	}
	return false;
}

CORE_GLOBAL int code_rule(struct near_code *near, struct unwind_rule *rule, u32 word,
			  u32 is_interrupted, u64 result)
{
	struct instructions code;
	s64 popped;

	(void)word;
	(void)result;
	/*
	 * A compiler that sees that an argument is unused passes no value, which the verifier
	 * refuses.
	 */
	core_one_register(word);
	core_one_register(result);
	if (core_is_null(near) || core_is_null(rule))
		return 0;
	near->at = 0;
	code.before[0] = instruction_before_pc(near, 0);
	code.before[1] = instruction_before_pc(near, 1);
	code.at[0] = near->word[WORDS_BEFORE];
	code.at[1] = near->word[WORDS_BEFORE] >> 32;
	popped = writeback_bytes(code.at[0]);
	if (is_signal_return(&code))
		make_signal_frame_rule(rule);
	else if ((code.at[0] & PAIR_MASK) == LDP_FP_LINK && popped >= RECORD_BYTES)
		make_frame_record_rule(rule, popped);
	else if (!is_interrupted || !make_interrupted_rule(near, &code, rule))
		make_frame_pointer_rule(rule);
	return 1;
}
