/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registers of x86-64 by their DWARF numbers (System V ABI, AMD64 supplement, figure 3.36), and
 * the slots of its callee-saved registers. Readers of x86-64 code use these names on any machine.
 */
#ifndef STACKMAP_ABI_NUMBERS_X86_64_H
#define STACKMAP_ABI_NUMBERS_X86_64_H

enum register_x86_64 {
	REGISTER_RAX,
	REGISTER_RDX,
	REGISTER_RCX,
	REGISTER_RBX,
	REGISTER_RSI,
	REGISTER_RDI,
	REGISTER_RBP,
	REGISTER_RSP,
	REGISTER_R8,
	REGISTER_R9,
	REGISTER_R10,
	REGISTER_R11,
	REGISTER_R12,
	REGISTER_R13,
	REGISTER_R14,
	REGISTER_R15,
	REGISTER_RIP,
};

enum slot_x86_64 {
	SLOT_RBX,
	SLOT_RBP,
	SLOT_R12,
	SLOT_R13,
	SLOT_R14,
	SLOT_R15,
};

#endif
