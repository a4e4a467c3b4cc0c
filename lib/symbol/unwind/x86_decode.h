/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One x86-64 instruction: its length, the operands that an analysis of stack frames needs, and the
 * general registers that it writes. Registers have their hardware numbers (rsp is 4, rbp is 5), not
 * those of DWARF.
 */
#ifndef LIB_SYMBOL_X86_DECODE_H
#define LIB_SYMBOL_X86_DECODE_H

#include <stdbool.h>

#include "scalar.h"

#define X86_LENGTH_MAX 15

enum x86_register {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	X86_REGISTERS,
	X86_RIP = X86_REGISTERS, /* only as the base of an address */
	X86_NO_REGISTER,
};

enum x86_map {
	X86_MAP_ONE_BYTE,
	X86_MAP_0F,
	X86_MAP_0F38,
	X86_MAP_0F3A,
	X86_MAP_VECTOR, /* after a VEX, EVEX or XOP prefix; of these instructions only `length` and
			   `writes` are decoded */
};

struct x86_instruction {
	u8 length;
	u8 map; /* enum x86_map */
	u8 opcode;
	bool is_wide;	/* REX.W is set: operands have 64 bits */
	bool is_narrow; /* the prefix 0x66 is set: operands have 16 bits */
	u8 repeat;	/* the prefix 0xf2 or 0xf3; 0 = neither */
	bool has_modrm;
	bool is_memory;	    /* the operand that ModRM.rm names is in memory */
	bool has_segment;   /* the operand has an fs or gs prefix, so it is not on the stack */
	u8 reg;		    /* ModRM.reg */
	u8 rm;		    /* ModRM.rm: number of a register if !is_memory */
	u8 base;	    /* base of the memory operand: a register, X86_RIP or X86_NO_REGISTER */
	u8 index, scale;    /* index register, X86_NO_REGISTER: none; its scale is 1, 2, 4 or 8 */
	u8 immediate_bytes; /* 0: no immediate */
	s32 displacement;
	s64 immediate; /* immediate operand, sign-extended; of a relative jump or call the distance
			  to the target */
	u16 writes; /* general registers that the instruction writes, by bit; rsp only if it is an
		       operand */
};

/* The flow of control after an instruction. */
enum x86_flow {
	X86_NEXT,
	X86_JUMP,	   /* a jump to next instruction + immediate */
	X86_BRANCH,	   /* a conditional jump to next instruction + immediate */
	X86_JUMP_INDIRECT, /* a jump through the operand rm */
	X86_CALL,	   /* a call of next instruction + immediate */
	X86_CALL_INDIRECT, /* a call through the operand rm */
	X86_RETURN,
	X86_SYSCALL,
	X86_TRAP,     /* ud2, int3 or hlt: the code ends here */
	X86_FORBIDDEN /* user programs cannot execute this instruction, so the bytes are not code */
};

enum x86_flow x86_flow_of(const struct x86_instruction *instruction);

/* The DWARF number of a general register (abi/rule.h). */
u8 x86_dwarf_register(u32 reg);

/* Decodes one instruction. False: the bytes are not an instruction of 64-bit mode, or end within
 * one. */
bool x86_decode(const u8 *code, u32 bytes, struct x86_instruction *instruction);

#endif
