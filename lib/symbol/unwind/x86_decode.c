/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables have one letter per opcode, by the opcode maps of the Intel manual (volume 2, appendix A):
 *
 *   .  no operand bytes                      !  no instruction in 64-bit mode
 *   m  ModRM, no general register written    w  ModRM, writes rm     r  writes reg     b  both
 *   M W R  the same with an 8-bit immediate  Z G  w, r with a 32-bit one
 *   i  8 bits     h  16 bits     e  24 bits     z  16 or 32 bits     d  32 bits
 *   v  16, 32 or 64 bits     o  an address
 *   p  a prefix or an escape to another table
 */
#include "x86_decode.h"

#include "arch/numbers_x86_64.h"
#include "rule.h"

#include <string.h>

static const char one_byte[256 + 1] = "wwrriz!!wwrriz!p" /* 00 */
				      "wwrriz!!wwrriz!!"
				      "wwrrizp!wwrrizp!" /* 20 */
				      "wwrrizp!mmmmizp!"
				      "pppppppppppppppp" /* 40: REX */
				      "................"
				      "!!prppppzGiR...." /* 60 */
				      "iiiiiiiiiiiiiiii"
				      "WZ!WmmbbwwrrwrmM" /* 80; decode_one_byte() changes 8f */
				      "..........!....."
				      "oooo....iz......" /* a0 */
				      "iiiiiiiivvvvvvvv"
				      "WWh.ppWZe.h..i!." /* c0 */
				      "wwww!!!.mmmmmmmm"
				      "iiiiiiiidd!i...." /* e0 */
				      "p.pp..ww......ww";

static const char escaped[256 + 1] = "mmrr!.....!.!m.M" /* 0f 00 */
				     "mmmmmmmmmmmmmmwm"
				     "wwmm!!!!mmmmrrmm" /* 20 */
				     "........p!p!!!!!"
				     "rrrrrrrrrrrrrrrr" /* 40 */
				     "rmmmmmmmmmmmmmmm"
				     "mmmmmmmmmmmmmmmm" /* 60 */
				     "MMMMmmm.mm!!mmwm"
				     "dddddddddddddddd" /* 80 */
				     "wwwwwwwwwwwwwwww"
				     "...mWw!!...wWwwr" /* a0 */
				     "wwrwrrrrrmWwrrrr"
				     "bbMmMRMw........" /* c0 */
				     "mmmmmmmrmmmmmmmm"
				     "mmmmmmmmmmmmmmmm" /* e0 */
				     "mmmmmmmmmmmmmmmm";

#define VEX_2 0xc5
#define VEX_3 0xc4
#define EVEX 0x62
#define XOP 0x8f

/* The position of the decoder, and the bits that prefixes have set. */
struct cursor {
	const u8 *at, *end;
	/* Upper bit of a register's number: 8 for r8 to r15, else 0. */
	u8 high_reg, high_index, high_base;
	bool is_short_address; /* the prefix 0x67 was read: addresses have 32 bits */
	bool is_evex;
};

static u8 read_code_byte(struct cursor *cursor)
{
	return cursor->at < cursor->end ? *cursor->at++ : (cursor->at++, 0);
}

static s64 read_signed_code_bytes(struct cursor *cursor, u32 bytes)
{
	u64 value = 0;

	for (u32 i = 0; i < bytes; i++)
		value |= (u64)read_code_byte(cursor) << 8 * i;
	return bytes ? (s64)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes) : 0;
}

static void decode_modrm_and_address(struct cursor *cursor, struct x86_instruction *instruction)
{
	u8 modrm = read_code_byte(cursor), mod = modrm >> 6, rm = modrm & 7, sib = 0;

	instruction->has_modrm = true;
	instruction->reg = (modrm >> 3 & 7) | cursor->high_reg;
	instruction->rm = rm | cursor->high_base;
	instruction->is_memory = mod != 3;
	if (mod == 3)
		return;
	instruction->base = instruction->rm;
	if (rm == 4) {
		sib = read_code_byte(cursor);
		instruction->base = (sib & 7) | cursor->high_base;
		instruction->index = (sib >> 3 & 7) | cursor->high_index;
		instruction->scale = 1 << (sib >> 6);
		if (instruction->index == X86_RSP)
			instruction->index = X86_NO_REGISTER;
	}
	if (mod == 0 && (rm == 4 ? sib & 7 : rm) == 5) {
		instruction->base = rm == 4 ? X86_NO_REGISTER : X86_RIP;
		mod = 2;
	}
	instruction->displacement = read_signed_code_bytes(cursor, mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static u32 operand_size_immediate_bytes(const struct x86_instruction *instruction)
{
	return instruction->is_narrow && !instruction->is_wide ? 2 : 4;
}

/* True if the opcode with this letter of the table has a ModRM byte. */
static bool letter_has_modrm(char letter)
{
	switch (letter) {
	case 'm':
	case 'w':
	case 'r':
	case 'b':
	case 'M':
	case 'W':
	case 'R':
	case 'Z':
	case 'G':
		return true;
	default:
		return false;
	}
}

/* The number of immediate bytes that follow the opcode, by its letter in the table. */
static u32 immediate_bytes_by_letter(const struct x86_instruction *instruction,
				     const struct cursor *cursor, char letter)
{
	switch (letter) {
	case 'i':
	case 'M':
	case 'W':
	case 'R':
		return 1;
	case 'h':
		return 2;
	case 'e':
		return 3;
	case 'z':
	case 'Z':
	case 'G':
		return operand_size_immediate_bytes(instruction);
	case 'd':
		return 4;
	case 'v':
		return instruction->is_wide ? 8 : operand_size_immediate_bytes(instruction);
	case 'o':
		return cursor->is_short_address ? 4 : 8;
	default:
		return 0;
	}
}

static u16 registers_written_by_letter(const struct x86_instruction *instruction, char letter)
{
	u16 reg = 1U << instruction->reg;
	u16 rm = instruction->is_memory ? 0 : 1U << instruction->rm;

	switch (letter) {
	case 'w':
	case 'W':
	case 'Z':
		return rm;
	case 'r':
	case 'R':
	case 'G':
		return reg;
	case 'b':
		return reg | rm;
	default:
		return 0;
	}
}

/* The general registers that a one-byte opcode writes without a ModRM byte that names them. */
static u16 registers_written_implicitly(const struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;
	u16 rm = instruction->has_modrm ? 0 : 1U << instruction->rm;

	if ((opcode >= 0x90 && opcode <= 0x97) || opcode == 0x98)
		return rm | 1U << X86_RAX;
	if (opcode >= 0xb0 && opcode <= 0xbf)
		return rm;
	if (opcode >= 0xa4 && opcode <= 0xaf && opcode != 0xa8 && opcode != 0xa9)
		return 1U << X86_RAX | 1U << X86_RCX | 1U << X86_RSI | 1U << X86_RDI;
	if (opcode < 0x40 && (opcode & 6) == 4 && opcode < 0x38)
		return 1U << X86_RAX;
	if (opcode == 0x99)
		return 1U << X86_RDX;
	if ((opcode >= 0xa0 && opcode <= 0xa1) || opcode == 0xe4 || opcode == 0xe5 ||
	    opcode == 0xec || opcode == 0xed || opcode == 0x9f || opcode == 0xd7)
		return 1U << X86_RAX;
	return opcode >= 0xe0 && opcode <= 0xe2 ? 1U << X86_RCX : 0;
}

static bool decode_one_byte(struct cursor *cursor, struct x86_instruction *instruction,
			    bool has_rex)
{
	u8 opcode = instruction->opcode, group;
	char letter = one_byte[opcode];
	bool has_byte_operand;
	u32 bytes;

	if (letter == '!' || letter == 'p')
		return false;
	if (letter_has_modrm(letter))
		decode_modrm_and_address(cursor, instruction);
	else
		instruction->rm = (opcode & 7) | cursor->high_base;
	group = instruction->reg & 7;
	if (opcode == 0x8f)
		letter = 'w';
	if ((opcode == 0xf6 || opcode == 0xf7) && group < 2)
		letter = opcode == 0xf6 ? 'M' : 'Z';
	bytes = immediate_bytes_by_letter(instruction, cursor, letter);
	instruction->immediate = read_signed_code_bytes(cursor, bytes);
	instruction->immediate_bytes = bytes;
	instruction->writes = registers_written_by_letter(instruction, letter) |
			      registers_written_implicitly(instruction);
	if ((opcode == 0xf6 || opcode == 0xf7) && group != 2 && group != 3)
		instruction->writes = group < 2 ? 0 : 1U << X86_RAX | 1U << X86_RDX;
	if ((opcode >= 0x80 && opcode <= 0x83 && group == 7) || (opcode == 0xff && group >= 2))
		instruction->writes = 0;
	has_byte_operand = (opcode < 0x40 && !(opcode & 5)) ||
			   (opcode < 0x40 && (opcode & 7) == 2) || opcode == 0x80 ||
			   opcode == 0x86 || opcode == 0x88 || opcode == 0x8a || opcode == 0xc0 ||
			   opcode == 0xc6 || opcode == 0xd0 || opcode == 0xd2 || opcode == 0xf6 ||
			   opcode == 0xfe || (opcode >= 0xb0 && opcode <= 0xb7);
	if (has_byte_operand && !has_rex)
		/* Without a REX prefix, the byte registers 4 to 7 are ah, ch, dh and bh. */
		instruction->writes =
			(instruction->writes & ~0xf0U) | (instruction->writes >> 4 & 0xf);
	return (opcode != 0xfe || group < 2) && (opcode != 0xff || group < 7);
}

/* The general registers that an opcode after 0x0f writes: by the letter of the table, with
 * exceptions. */
static u16 registers_written_after_0f(const struct x86_instruction *instruction, char letter)
{
	u8 opcode = instruction->opcode;
	u16 writes = registers_written_by_letter(instruction, letter);

	if (opcode == 0x05)
		return 1U << X86_RAX | 1U << X86_RCX | 1U << X86_R11;
	if (opcode == 0xa2)
		return 1U << X86_RAX | 1U << X86_RBX | 1U << X86_RCX | 1U << X86_RDX;
	if (opcode == 0x31 || opcode == 0x32 || opcode == 0x33)
		return 1U << X86_RAX | 1U << X86_RDX;
	if (opcode == 0x01 && !instruction->is_memory) /* xgetbv, rdtscp, ... */
		return 1U << X86_RAX | 1U << X86_RCX | 1U << X86_RDX;
	if (opcode == 0xb0 || opcode == 0xb1)
		return writes | 1U << X86_RAX;
	if (opcode == 0xc7)
		return writes | 1U << X86_RAX | 1U << X86_RDX;
	if (opcode >= 0xc8 && opcode <= 0xcf)
		return 1U << instruction->rm;
	if ((opcode == 0x2c || opcode == 0x2d || opcode == 0x1e) && !instruction->repeat)
		return 0;
	if (opcode == 0x7e && instruction->repeat)
		return 0;
	if (opcode == 0xae && instruction->repeat == 0xf3 && !instruction->is_memory)
		return 1U << instruction->rm;
	return opcode == 0xba && (instruction->reg & 7) == 4 ? 0 : writes;
}

static bool decode_escaped(struct cursor *cursor, struct x86_instruction *instruction)
{
	char letter = escaped[instruction->opcode];
	u32 bytes;

	if (letter == '!' || letter == 'p')
		return false;
	if (letter_has_modrm(letter))
		decode_modrm_and_address(cursor, instruction);
	else
		instruction->rm = (instruction->opcode & 7) | cursor->high_base;
	bytes = immediate_bytes_by_letter(instruction, cursor, letter);
	instruction->immediate = read_signed_code_bytes(cursor, bytes);
	instruction->immediate_bytes = bytes;
	instruction->writes = registers_written_after_0f(instruction, letter);
	return true;
}

static bool decode_0f38(struct cursor *cursor, struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;

	decode_modrm_and_address(cursor, instruction);
	if (opcode == 0xf0 || opcode == 0xf6 || (opcode == 0xf1 && instruction->repeat == 0xf2))
		instruction->writes = 1U << instruction->reg;
	return true;
}

static bool decode_0f3a(struct cursor *cursor, struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;

	decode_modrm_and_address(cursor, instruction);
	read_signed_code_bytes(cursor, 1);
	if (opcode >= 0x14 && opcode <= 0x17)
		instruction->writes = registers_written_by_letter(instruction, 'w');
	if (opcode >= 0x60 && opcode <= 0x63)
		instruction->writes = 1U << X86_RCX;
	return true;
}

/* The general registers that an instruction after a VEX or EVEX prefix writes. */
static u16 registers_written_after_vex(const struct x86_instruction *instruction, u32 map,
				       bool is_evex, u32 third)
{
	u8 opcode = instruction->opcode;
	u16 reg = 1U << (instruction->reg & 15), vvvv = 1U << (third & 15);

	if (map == 1 || map == 5) {
		if (opcode == 0x7e)
			return registers_written_by_letter(instruction, 'w');
		if (opcode == 0x2c || opcode == 0x2d || opcode == 0xc5 ||
		    (!is_evex && (opcode == 0x50 || opcode == 0x93 || opcode == 0xd7)) ||
		    (is_evex && (opcode == 0x78 || opcode == 0x79)))
			return reg;
	} else if (map == 2 && !is_evex) {
		if (opcode == 0xf2 || opcode == 0xf5 || opcode == 0xf7 ||
		    (opcode >= 0xe0 && opcode <= 0xef))
			return reg;
		return opcode == 0xf3 ? vvvv : opcode == 0xf6 ? reg | vvvv : 0;
	} else if (map == 3) {
		if (opcode >= 0x14 && opcode <= 0x17)
			return registers_written_by_letter(instruction, 'w');
		if (opcode == 0xf0 && !is_evex)
			return reg;
		return opcode >= 0x60 && opcode <= 0x63 ? 1U << X86_RCX : 0;
	}
	return 0;
}

static u32 immediate_bytes_after_vex(u32 map, u8 opcode)
{
	if (map == 3 || map == 8)
		return 1;
	if (map == 10)
		return 4;
	return map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
			    (opcode >= 0xc4 && opcode <= 0xc6))
		       ? 1
		       : 0;
}

/* Decodes an instruction with a VEX, EVEX or XOP prefix. The bits of registers are inverted in
 * these prefixes. */
static bool decode_vector(struct cursor *cursor, struct x86_instruction *instruction, u8 prefix)
{
	bool is_evex = prefix == EVEX;
	u8 first = read_code_byte(cursor),
	   second = prefix == VEX_2 ? first : read_code_byte(cursor);
	u32 map = prefix == VEX_2 ? 1 : is_evex ? first & 7 : first & 0x1f;

	cursor->high_reg = first & 0x80 ? 0 : 8;
	if (prefix != VEX_2) {
		cursor->high_index = first & 0x40 ? 0 : 8;
		cursor->high_base = first & 0x20 ? 0 : 8;
	}
	if (is_evex)
		read_code_byte(cursor);
	if (prefix == XOP ? map < 8 || map > 10 : !map || map > 6 || map == 4)
		return false;
	if (!is_evex && prefix != XOP && map > 3)
		return false;
	instruction->map = X86_MAP_VECTOR;
	instruction->opcode = read_code_byte(cursor);
	if (map == 1 && instruction->opcode == 0x77 && !is_evex)
		return true;
	decode_modrm_and_address(cursor, instruction);
	read_signed_code_bytes(cursor, immediate_bytes_after_vex(map, instruction->opcode));
	if (prefix == XOP)
		instruction->writes = 1U << instruction->reg | 1U << (~second >> 3 & 15);
	else
		instruction->writes =
			registers_written_after_vex(instruction, map, is_evex, ~second >> 3 & 15);
	if (prefix == XOP)
		instruction->writes &= ~(1U << X86_RSP); /* register 4 of these instructions is
							    mostly a vector register, not rsp */
	return true;
}

static bool is_prefix_byte(u8 byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
	       (byte >= 0x64 && byte <= 0x67) || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

static bool decode_by_opcode_map(struct cursor *cursor, struct x86_instruction *instruction,
				 u8 opcode, bool has_rex)
{
	bool is_vector = opcode == VEX_2 || opcode == VEX_3 || opcode == EVEX ||
			 (opcode == XOP && cursor->at < cursor->end && (*cursor->at & 0x1f) >= 8);

	if (is_vector)
		return decode_vector(cursor, instruction, opcode);
	if (opcode != 0x0f) {
		instruction->opcode = opcode;
		return decode_one_byte(cursor, instruction, has_rex);
	}
	instruction->map = X86_MAP_0F;
	instruction->opcode = read_code_byte(cursor);
	if (instruction->opcode != 0x38 && instruction->opcode != 0x3a)
		return decode_escaped(cursor, instruction);
	instruction->map = instruction->opcode == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
	instruction->opcode = read_code_byte(cursor);
	return instruction->map == X86_MAP_0F38 ? decode_0f38(cursor, instruction)
						: decode_0f3a(cursor, instruction);
}

bool x86_decode(const u8 *code, u32 bytes, struct x86_instruction *instruction)
{
	struct cursor cursor = {.at = code, .end = code + bytes};
	bool has_rex;
	u8 byte;

	*instruction = (struct x86_instruction){.base = X86_NO_REGISTER, .index = X86_NO_REGISTER};
	for (byte = read_code_byte(&cursor); is_prefix_byte(byte) && cursor.at < cursor.end;
	     byte = read_code_byte(&cursor)) {
		instruction->is_narrow |= byte == 0x66;
		cursor.is_short_address |= byte == 0x67;
		instruction->has_segment |= byte == 0x64 || byte == 0x65;
		if (byte == 0xf2 || byte == 0xf3)
			instruction->repeat = byte;
	}
	has_rex = byte >> 4 == 4;
	if (has_rex) {
		instruction->is_wide = byte & 8;
		cursor.high_reg = byte & 4 ? 8 : 0;
		cursor.high_index = byte & 2 ? 8 : 0;
		cursor.high_base = byte & 1 ? 8 : 0;
		byte = read_code_byte(&cursor);
	}
	if (!decode_by_opcode_map(&cursor, instruction, byte, has_rex) || cursor.at > cursor.end ||
	    cursor.at - code > X86_LENGTH_MAX)
		return false;
	instruction->length = cursor.at - code;
	return true;
}

static enum x86_flow flow_of_one_byte(const struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode, group = instruction->reg & 7;

	if (opcode >= 0x70 && opcode <= 0x7f)
		return X86_BRANCH;
	if (opcode >= 0xe4 && opcode <= 0xef && opcode != 0xe8 && opcode != 0xe9 && opcode != 0xeb)
		return X86_FORBIDDEN;
	switch (opcode) {
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return X86_BRANCH;
	case 0xe8:
		return X86_CALL;
	case 0xe9:
	case 0xeb:
		return X86_JUMP;
	case 0xc2:
	case 0xc3:
		return X86_RETURN;
	case 0xcc:
	case 0xf4:
		return X86_TRAP;
	case 0x6c:
	case 0x6d:
	case 0x6e:
	case 0x6f:
	case 0x8e:
	case 0xca:
	case 0xcb:
	case 0xcd:
	case 0xcf:
	case 0xf1:
	case 0xfa:
	case 0xfb:
		return X86_FORBIDDEN;
	case 0xff:
		return group == 2				? X86_CALL_INDIRECT
		       : group == 4				? X86_JUMP_INDIRECT
		       : group == 3 || group == 5 || group == 7 ? X86_FORBIDDEN
								: X86_NEXT;
	default:
		return X86_NEXT;
	}
}

enum x86_flow x86_flow_of(const struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;

	if (instruction->map == X86_MAP_ONE_BYTE)
		return flow_of_one_byte(instruction);
	if (instruction->map != X86_MAP_0F)
		return X86_NEXT;
	if (opcode >= 0x80 && opcode <= 0x8f)
		return X86_BRANCH;
	if (opcode == 0x05)
		return X86_SYSCALL;
	if (opcode == 0x0b || opcode == 0xb9 || opcode == 0xff)
		return X86_TRAP;
	if ((opcode >= 0x06 && opcode <= 0x09) || (opcode >= 0x20 && opcode <= 0x23) ||
	    opcode == 0x30 || opcode == 0x32 || opcode == 0x34 || opcode == 0x35 ||
	    opcode == 0x00 || opcode == 0xaa || opcode == 0x78 || opcode == 0x79 ||
	    (opcode == 0x01 && instruction->is_memory))
		return X86_FORBIDDEN;
	return X86_NEXT;
}

u8 x86_dwarf_register(u32 reg)
{
	static const u8 numbers[X86_REGISTERS] = {
		REGISTER_RAX, REGISTER_RCX, REGISTER_RDX, REGISTER_RBX, REGISTER_RSP, REGISTER_RBP,
		REGISTER_RSI, REGISTER_RDI, REGISTER_R8,  REGISTER_R9,	REGISTER_R10, REGISTER_R11,
		REGISTER_R12, REGISTER_R13, REGISTER_R14, REGISTER_R15,
	};

	return numbers[reg];
}
