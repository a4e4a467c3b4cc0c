/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of the unwinder that differ between architectures (abi/arch has the registers). Each
 * header of this folder that is named unwinding_ARCHITECTURE.h defines the same names:
 *
 * SYSCALL_CODE, SYSCALL_BYTES: the instruction of a system call, as a little-endian number
 * RETURN_COLUMN: the column of the return address in tables
 * cfi_column_of(): the row's column for a register; COLUMN_IGNORED: no rule needs it
 * are_usual_cie_alignments(): true for the three bytes after version and augmentation of a CIE that
 *     compilers write: alignment of code, alignment of data, column of the return address
 * is_ignored_instruction(): true for call frame instructions of the architecture that have no
 *     operand and change no part of a row that a rule needs
 * SFRAME_ABI: the architecture in the header of an SFrame section
 * SLOTS_LOST_BUT_FP: initializers of the slots of registers that SFrame does not describe
 * RESULT_MAY_BE_CFA: 1 if hand-written code keeps its caller's stack pointer in REGISTER_RESULT,
 *     also across calls
 * SIGNAL_CONTEXT_WORDS, UCONTEXT_GENERAL: the registers in the kernel's ucontext, and their offset;
 *     UCONTEXT_SP, UCONTEXT_PC: the offsets of sp and pc in it
 * set_signal_registers(): sets all registers from the kernel's ucontext
 * strip_code_signature(): a code address without its signature bits (PAC)
 * untag_address(): an address of data without a tag that the CPU ignores (TBI)
 * complete_caller_registers(): sets the registers of a caller that no rule describes
 * rule_loses_sp(): true if, after a step by the rule, only a lower bound of the caller's stack
 *     pointer is known
 * recover_cfa_register(): computes the CFA's register from another register if its value is not
 *     known
 * registers_have_no_caller(): true if a proven rule gave these registers for a caller, but they
 *     show that the frame is the stack's outermost one
 * is_after_call(): true if the eight bytes of code end with a call instruction; call_is_direct(),
 *     call_target(): more about that call
 * JAVA_HAS_RULES: defined if java_rule.c has rules for this architecture
 * UNWIND_CODE_RULE, UNWIND_RETURN_SEARCH: the sources of code_rule.h and return_search.h
 */
#ifndef CORE_UNWINDING_H
#define CORE_UNWINDING_H

#include <stdbool.h>

#include "env.h"
#include "rule.h"

enum cfi_column {
	COLUMN_IGNORED,
	COLUMN_SAVED,
	COLUMN_RETURN = COLUMN_SAVED + SLOT_RETURN,
	COLUMN_SP
};

#ifdef UNWIND_X86_64
#include "arch/unwinding_x86_64.h"
#elif defined(UNWIND_ARM64) || defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#include "arch/unwinding_arm64.h"
#else
#include "arch/unwinding_x86_64.h"
#endif

#endif
