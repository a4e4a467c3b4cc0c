/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compilers keep one stack depth for each instruction, on every path to it. It therefore suffices
 * to follow one path, without taken branches, from the pc to a return, and to sum the changes of
 * the stack pointer. The scan understands the instructions of start-up code (crti.o, crtbegin.o),
 * which has no tables, and of epilogues; any other instruction ends it without a result. A jump
 * counts as the end of a function only where it cannot stay within the function: behind a
 * conditional jump or a landing pad, as start-up code has them.
 */
#include "arch/x86_64/code_scan.h"

#include <stdbool.h>

#define INSTRUCTIONS_MAX 24

#define REX_W 0x48
#define REX_B 0x41
#define MODRM_REGISTERS(modrm) (((modrm)&0xc0) == 0xc0)
#define MODRM_IP_RELATIVE(modrm) (((modrm)&0xc7) == 0x05)
#define MODRM_RM(modrm) ((modrm)&7)
#define RM_RSP 4
#define RM_RBP 5

#define NUMBER_RBX 3
#define NUMBER_RBP 5

#define BYTE(code, i) ((u8)((code) >> 8 * (i)))
#define ENDBR64 0xfa1e0ff3

enum opcode {
	OPCODE_ADD = 0x01,
	OPCODE_SUB = 0x29,
	OPCODE_XOR = 0x31,
	OPCODE_CMP = 0x39,
	OPCODE_PUSH_RBP = 0x55,
	OPCODE_POP = 0x58,
	OPCODE_JE = 0x74,
	OPCODE_JNE = 0x75,
	OPCODE_CMP_BYTE = 0x80,
	OPCODE_ARITHMETIC_32 = 0x81,
	OPCODE_ARITHMETIC_8 = 0x83,
	OPCODE_TEST = 0x85,
	OPCODE_MOV = 0x89,
	OPCODE_LOAD = 0x8b,
	OPCODE_LEA = 0x8d,
	OPCODE_SHIFT = 0xc1,
	OPCODE_RET = 0xc3,
	OPCODE_MOV_BYTE = 0xc6,
	OPCODE_SHIFT_1 = 0xd1,
	OPCODE_CALL = 0xe8,
	OPCODE_JMP = 0xe9,
	OPCODE_GROUP_5 = 0xff,
};

#define MODRM_RSP_TO_RBP 0xe5
#define MODRM_ADD_RSP 0xc4
#define MODRM_SUB_RSP 0xec
#define MODRM_CALL_RAX 0xd0
#define MODRM_JMP_RAX 0xe0

/*
 * The length of an instruction between registers, or on memory relative to the pc; 0: another
 * instruction.
 */
CORE_PART u32 length_plain(u32 opcode, u8 modrm)
{
	bool is_ip_relative = MODRM_IP_RELATIVE(modrm);

	switch (opcode) {
	case OPCODE_ADD:
	case OPCODE_SUB:
	case OPCODE_XOR:
	case OPCODE_MOV:
	case OPCODE_SHIFT_1:
		return MODRM_REGISTERS(modrm) && MODRM_RM(modrm) != RM_RSP &&
				       MODRM_RM(modrm) != RM_RBP
			       ? 2
			       : 0;
	case OPCODE_CMP:
	case OPCODE_TEST:
		return MODRM_REGISTERS(modrm) ? 2 : 0;
	case OPCODE_SHIFT:
		return MODRM_REGISTERS(modrm) && MODRM_RM(modrm) != RM_RSP ? 3 : 0;
	case OPCODE_LEA:
	case OPCODE_LOAD:
		return is_ip_relative ? 6 : 0;
	case OPCODE_CMP_BYTE:
	case OPCODE_MOV_BYTE:
	case OPCODE_ARITHMETIC_8:
		return is_ip_relative ? 7 : 0;
	}
	return 0;
}

/* True if the instruction ends the function. */
CORE_PART bool is_end(const struct near_code *scan, u64 code)
{
	switch (BYTE(code, 0)) {
	case OPCODE_RET:
		return true;
	case OPCODE_JMP:
		return scan->instructions == 1 && scan->bytes == 0;
	case OPCODE_GROUP_5:
		return BYTE(code, 1) == MODRM_JMP_RAX && scan->after_branch;
	}
	return false;
}

/*
 * Follows a pop. Only the first pop of a register that was saved before the pc gives the caller's
 * value.
 */
CORE_PART void pop(struct near_code *scan, u32 number)
{
	s64 *popped;

	core_one_register(number); /* clang 19 knows that number < 16, Linux 6.1 does not */
	popped = &scan->popped[number & 15];
	if (scan->bytes >= 0 && !*popped)
		*popped = 1 + scan->bytes;
	scan->bytes += 8;
}

/*
 * The length of an instruction that changes the stack pointer, or sets up a frame with it; 0:
 * another instruction.
 */
CORE_PART u32 length_stack(struct near_code *scan, u64 code, u8 prefix)
{
	u8 opcode = BYTE(code, 0), modrm = BYTE(code, 1);

	if ((opcode & 0xf8) == OPCODE_POP && prefix != REX_W) {
		pop(scan, (opcode & 7) + (prefix == REX_B ? 8 : 0));
		return 1;
	}
	if (opcode == OPCODE_PUSH_RBP && !prefix) {
		scan->bytes -= 8;
		return 1;
	}
	if (prefix == REX_W && opcode == OPCODE_MOV && modrm == MODRM_RSP_TO_RBP)
		return 2;
	if (prefix != REX_W || opcode != OPCODE_ARITHMETIC_8 ||
	    (modrm != MODRM_ADD_RSP && modrm != MODRM_SUB_RSP))
		return 0;
	scan->bytes += modrm == MODRM_ADD_RSP ? (s8)BYTE(code, 2) : -(s8)BYTE(code, 2);
	return 3;
}

/* The length of any understood instruction, without its prefix; 0: another one. */
CORE_PART u32 instruction_length(struct near_code *scan, u64 code, u8 prefix)
{
	u32 length;

	if ((u32)code == ENDBR64)
		return scan->instructions ? 0 : 4;
	if (prefix)
		code >>= 8;
	length = length_stack(scan, code, prefix);
	if (!length && BYTE(code, 0) == OPCODE_CALL)
		length = 5;
	if (!length && BYTE(code, 0) == OPCODE_GROUP_5 && BYTE(code, 1) == MODRM_CALL_RAX)
		length = 2;
	if (!length && (BYTE(code, 0) == OPCODE_JE || BYTE(code, 0) == OPCODE_JNE))
		length = 2;
	if (!length)
		length = length_plain(BYTE(code, 0), BYTE(code, 1));
	return length;
}

/* Follows the instruction at the position. 1: the scan ends. */
CORE_GLOBAL_PART int instruction_follow(struct near_code *scan)
{
	u64 code, is_understood;
	u8 first, prefix;
	u32 at;

	if (core_is_null(scan))
		return 1;
	at = scan->at;
	core_one_register(at);
	if (at > NEAR_CODE_AFTER - NEAR_CODE_STEP)
		return 1;
	code = core_load_u64((const u8 *)scan->word + NEAR_CODE_BEFORE + at);
	scan->has_end = is_end(scan, code);
	if (scan->has_end)
		return 1;
	first = BYTE(code, 0);
	prefix = first == REX_W || first == REX_B ? first : 0;
	/* In memory: the verifier would follow what comes behind once for each length. */
	scan->length = instruction_length(scan, code, prefix);
	is_understood = is_below(0, core_reload(scan->length));
	scan->at += scan->length + (is_understood & is_below(0, prefix));
	scan->after_branch = is_below(first ^ OPCODE_JE, 1);
	scan->instructions++;
	return 1 - is_understood;
}

/* The slot of a register; 0: no pop restores it. */
CORE_PART u8 slot_popped(const struct near_code *scan, u32 number)
{
	s64 popped = scan->popped[number & 15];

	return popped ? slot_below(popped - 1 - scan->bytes - 8) : 0;
}

CORE_PART bool is_sane(const struct near_code *scan)
{
	return scan->has_end && scan->bytes >= 0 && (u64)scan->bytes % SLOT_WORD == 0;
}

CORE_PART void rule_by_pops(const struct near_code *scan, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = scan->bytes + 8,
		.base = RULE_BASE_CFA,
		.slot = {slot_popped(scan, NUMBER_RBX), slot_popped(scan, NUMBER_RBP),
			 slot_popped(scan, 12), slot_popped(scan, 13), slot_popped(scan, 14),
			 slot_popped(scan, 15), 1},
	};
}

CORE_PART void scan_begin(struct near_code *scan)
{
	scan->bytes = 0;
	scan->at = 0;
	scan->instructions = 0;
	scan->has_end = 0;
	scan->after_branch = 0;
	for (u32 i = 0; i < sizeof(scan->popped) / sizeof(*scan->popped); i++)
		scan->popped[i] = 0;
}

CORE_GLOBAL int code_scan_rule(struct near_code *scan, struct unwind_rule *rule)
{
	if (core_is_null(scan) || core_is_null(rule))
		return 0;
	scan_begin(scan);
	for (u32 i = 0; i < INSTRUCTIONS_MAX; i++)
		if (instruction_follow(scan))
			break;
	if (!is_sane(scan))
		return 0;
	rule_by_pops(scan, rule);
	return 1;
}
