/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registers of user stacks, on each architecture. Each header of this folder that is named
 * registers_ARCHITECTURE.h defines the same names:
 *
 * enum unwind_register: the numbers of the registers, which are those of DWARF. REGISTER_SP,
 *     REGISTER_FP and REGISTER_PC: stack pointer, frame pointer, pc. REGISTER_LINK: the register
 *     that has the return address at a function's entry; REGISTER_PC if the stack has it.
 *     REGISTER_RESULT: the result of a system call. REGISTER_THREAD: the thread pointer, 0 if it is
 *     not known; `known` has no bit for it.
 *     REGISTER_GOROUTINE: the register from which Go's code finds the running goroutine
 *     (core/unwind/go_stack.h)
 * GOROUTINE_IS_IN_REGISTER: 1 if that register holds the address of the goroutine's struct g; 0: a
 *     word near the address in that register holds it
 * REGISTERS_ELF_MACHINE: the number of these registers' architecture in headers of ELF files
 * COMPAT_IS_UNWOUND: 1 if walks know the frames of 32-bit code; 0: its stacks have one frame
 * REGISTER_COUNT, REGISTERS_ALL: the used elements of an array of registers, and their bits in
 *     `known`
 * is_table_register(): true for the numbers of general registers that a table may name
 * enum rule_slot: the order of a rule's slots; the return address is the last one, SLOT_RETURN
 * EACH_SAVED_REGISTER(X): X(slot, register) of all other slots
 * RETURN_MAY_BE_IN_REGISTER: 1 if slot 0 of a return address means REGISTER_LINK
 * RETURN_IS_BELOW_BASE: 1 if the slot of the return address counts from the rule's base, and not
 *     always from the CFA
 * RULE_BASE_WORDS: the words from a base that is a register up to where slots count from
 * THREAD_ID_REACH: pthread_self() is at the thread pointer, or less than so many bytes below it
 * STEP_MASK_SHIFT: the lowest register in the masks of a step (rule_cache.h)
 *
 * UNWIND_ARM64 and UNWIND_X86_64 choose an architecture on any machine, for tests of its rules.
 */
#ifndef STACKMAP_ABI_REGISTERS_H
#define STACKMAP_ABI_REGISTERS_H

#include "scalar.h"

#ifdef UNWIND_X86_64
#include "arch/registers_x86_64.h"
#elif defined(UNWIND_ARM64) || defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#include "arch/registers_arm64.h"
#else
#include "arch/registers_x86_64.h"
#endif

#endif
