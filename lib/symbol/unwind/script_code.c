/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes the instructions of the loop of CPython to a form that is the same for both architectures
 * (struct loop_code). x86-64's are decoded by x86_decode.c. arm64's are decoded here, by the groups
 * of the Arm Architecture Reference Manual (C4.1, "A64 instruction set encoding"); instructions
 * that write no general register and no memory are not told apart.
 */
#include "symbol/unwind/script_loop.h"

#include <string.h>

/* The bytes that an instruction of x86-64 stores to memory as whole general or vector registers; 0:
 * it stores none, or is of a kind that is not known. */
static u32 x86_bytes_stored_from_registers(const struct x86_instruction *code)
{
	if (code->map == X86_MAP_ONE_BYTE && (code->opcode == 0x89 || code->opcode == 0xc7))
		return code->is_wide ? 8 : 0;
	if (code->map != X86_MAP_0F || code->repeat)
		return 0;
	if (code->opcode == 0x11 || code->opcode == 0x29 || code->opcode == 0x7f)
		return 16;
	return code->opcode == 0xd6 || code->opcode == 0x13 ? 8 : 0;
}

/* The bytes that an instruction of x86-64 may store to memory, also in other ways than
 * x86_bytes_stored_from_registers() knows. Each VEX and EVEX instruction counts as a store. */
static u32 x86_bytes_possibly_stored(const struct x86_instruction *code)
{
	bool is_plain = code->map == X86_MAP_ONE_BYTE;

	if (code->map == X86_MAP_VECTOR)
		return 32;
	if (is_plain && (code->opcode == 0x88 || code->opcode == 0xc6))
		return 1;
	if (is_plain && (code->opcode == 0x89 || code->opcode == 0xc7))
		return code->is_wide ? 8 : code->is_narrow ? 2 : 4;
	return code->map == X86_MAP_0F && code->opcode == 0x17
		       ? 8
		       : x86_bytes_stored_from_registers(code);
}

static enum loop_flow x86_flow_as_loop_flow(const struct x86_instruction *code)
{
	switch (x86_flow_of(code)) {
	case X86_NEXT:
		return LOOP_NEXT;
	case X86_JUMP:
		return LOOP_JUMP;
	case X86_BRANCH:
		return LOOP_BRANCH;
	case X86_JUMP_INDIRECT:
		return LOOP_JUMP_INDIRECT;
	case X86_CALL:
	case X86_CALL_INDIRECT:
		return LOOP_CALL;
	case X86_TRAP:
		return LOOP_TRAP;
	default:
		return LOOP_OTHER;
	}
}

/* Sets the register that an instruction computes an address in: lea, or mov of a register. */
static void x86_set_computed_register(const struct x86_instruction *code,
				      struct loop_code *loop_code)
{
	bool is_lea = code->opcode == 0x8d && code->is_memory && !code->has_segment &&
		      code->index == X86_NO_REGISTER && code->base < X86_REGISTERS;
	bool is_move = !code->is_memory && (code->opcode == 0x89 || code->opcode == 0x8b);

	if (code->map != X86_MAP_ONE_BYTE || !code->is_wide || (!is_lea && !is_move))
		return;
	loop_code->distance = is_lea ? code->displacement : 0;
	loop_code->computed = is_move && code->opcode == 0x89 ? code->rm : code->reg;
	loop_code->computed_from = is_lea		  ? code->base
				   : code->opcode == 0x89 ? code->reg
							  : code->rm;
}

static bool x86_decode_loop_code(const u8 *bytes, u64 left, u64 address,
				 struct loop_code *loop_code)
{
	struct x86_instruction code;

	if (!x86_decode(bytes, left < X86_LENGTH_MAX ? left : X86_LENGTH_MAX, &code))
		return false;
	loop_code->length = code.length;
	loop_code->flow = x86_flow_as_loop_flow(&code);
	loop_code->target = address + code.length + code.immediate;
	loop_code->writes = code.writes;
	x86_set_computed_register(&code, loop_code);
	if (!code.is_memory)
		return true;
	if (code.base < X86_REGISTERS && !code.has_segment)
		loop_code->base = code.base;
	loop_code->is_indexed = code.index != X86_NO_REGISTER;
	loop_code->displacement = code.displacement;
	loop_code->touched_bytes = x86_bytes_possibly_stored(&code);
	loop_code->is_store = x86_bytes_stored_from_registers(&code);
	if (code.map == X86_MAP_ONE_BYTE && code.opcode == 0x89 && code.is_wide)
		loop_code->stored[0] = code.reg;
	return true;
}

/* --- arm64 --- */

#define ARM64_BYTES 4
#define ARM64_CALL_WRITES 0x4007ffffU /* x0 to x18, and x30 */
/* Number of the register that is always 0; in some instructions 31 is sp instead. */
#define ARM64_ZERO 31

/* The `count` bits of an instruction from bit `low` on, as an unsigned and as a signed number. */
static u32 unsigned_bits_of_instruction(u32 code, u32 low, u32 count)
{
	return code >> low & ((1U << count) - 1);
}

static s64 signed_bits_of_instruction(u32 code, u32 low, u32 count)
{
	return (s64)((u64)code << (64 - low - count)) >> (64 - count);
}

static u32 register_bit(u32 reg)
{
	return reg == ARM64_ZERO ? 0 : 1U << reg;
}

/* Decodes branches, exceptions and system instructions. False: the instruction is of another
 * group. */
static bool arm64_decode_flow(u32 code, u64 address, struct loop_code *loop_code)
{
	if ((code & 0x7c000000) == 0x14000000) {
		loop_code->flow = code >> 31 ? LOOP_CALL : LOOP_JUMP;
		loop_code->target = address + signed_bits_of_instruction(code, 0, 26) * 4;
	} else if ((code & 0xfe000000) == 0x54000000 || (code & 0x7e000000) == 0x34000000) {
		loop_code->flow = LOOP_BRANCH;
		loop_code->target = address + signed_bits_of_instruction(code, 5, 19) * 4;
	} else if ((code & 0x7e000000) == 0x36000000) {
		loop_code->flow = LOOP_BRANCH;
		loop_code->target = address + signed_bits_of_instruction(code, 5, 14) * 4;
	} else if ((code & 0xfe000000) == 0xd6000000) {
		/* Bits 21 to 23 tell br, blr, ret and eret apart. */
		u32 kind = unsigned_bits_of_instruction(code, 21, 3);

		loop_code->flow = kind == 0   ? LOOP_JUMP_INDIRECT
				  : kind == 1 ? LOOP_CALL
					      : LOOP_OTHER;
	} else if ((code & 0xff000000) == 0xd4000000) {
		/* Instructions that generate exceptions: brk ends the code. */
		loop_code->flow =
			unsigned_bits_of_instruction(code, 21, 3) == 1 ? LOOP_TRAP : LOOP_OTHER;
	} else if ((code & 0xff000000) == 0xd5000000) {
		loop_code->writes = code & 1U << 21
					    ? register_bit(unsigned_bits_of_instruction(code, 0, 5))
					    : 0;
	} else if (!(code >> 16)) {
		loop_code->flow = LOOP_TRAP; /* udf */
	} else {
		return false;
	}
	if (loop_code->flow == LOOP_CALL)
		loop_code->writes = ARM64_CALL_WRITES;
	return true;
}

/* Sets which memory an instruction writes that stores one or two registers of `bytes` bytes each,
 * at a distance from a base register. */
static void arm64_set_stored_memory(u32 code, u32 bytes, bool is_pair, s64 distance,
				    struct loop_code *loop_code)
{
	bool is_vector = unsigned_bits_of_instruction(code, 26, 1);
	u32 first = unsigned_bits_of_instruction(code, 0, 5),
	    second = unsigned_bits_of_instruction(code, 10, 5);

	loop_code->base = unsigned_bits_of_instruction(code, 5, 5);
	loop_code->displacement = distance;
	loop_code->touched_bytes = is_pair ? 2 * bytes : bytes;
	loop_code->is_store = bytes >= 8;
	if (is_vector || bytes != 8)
		return;
	if (first != ARM64_ZERO)
		loop_code->stored[0] = first;
	if (is_pair && second != ARM64_ZERO)
		loop_code->stored[1] = second;
}

/* Decodes loads and stores of a pair of registers: ldp, stp and similar ones. */
static void arm64_decode_pair(u32 code, struct loop_code *loop_code)
{
	bool is_vector = unsigned_bits_of_instruction(code, 26, 1),
	     is_load = unsigned_bits_of_instruction(code, 22, 1);
	u32 kind = unsigned_bits_of_instruction(code, 30, 2),
	    mode = unsigned_bits_of_instruction(code, 23, 2);
	u32 bytes = is_vector ? 4U << kind : kind & 2 ? 8 : 4;

	if (mode & 1)
		loop_code->writes = 1U << unsigned_bits_of_instruction(code, 5, 5);
	if (!is_load)
		arm64_set_stored_memory(
			code, bytes, true,
			mode == 1 ? 0 : signed_bits_of_instruction(code, 15, 7) * bytes, loop_code);
	else if (!is_vector)
		loop_code->writes |= register_bit(unsigned_bits_of_instruction(code, 0, 5)) |
				     register_bit(unsigned_bits_of_instruction(code, 10, 5));
}

/* Decodes loads and stores of one register. */
static void arm64_decode_single(u32 code, struct loop_code *loop_code)
{
	bool is_vector = unsigned_bits_of_instruction(code, 26, 1),
	     is_scaled = unsigned_bits_of_instruction(code, 24, 1);
	u32 size = unsigned_bits_of_instruction(code, 30, 2),
	    kind = unsigned_bits_of_instruction(code, 22, 2),
	    mode = unsigned_bits_of_instruction(code, 10, 2);
	u32 bytes = is_vector && kind & 2 ? 16 : 1U << size;
	/* The address has an index register, or the instruction is an atomic operation. */
	bool is_register = !is_scaled && unsigned_bits_of_instruction(code, 21, 1);
	bool is_atomic = is_register && mode == 0;
	bool is_store = is_atomic || (is_vector ? !(kind & 1) : !kind);
	s64 distance = 0;

	if (is_scaled)
		distance = (s64)unsigned_bits_of_instruction(code, 10, 12) * bytes;
	else if (!is_register && mode != 1)
		distance = signed_bits_of_instruction(code, 12, 9);
	if (!is_scaled && !is_register && mode & 1)
		loop_code->writes = 1U << unsigned_bits_of_instruction(code, 5, 5);
	loop_code->is_indexed = is_register && !is_atomic;
	if (is_store)
		arm64_set_stored_memory(code, bytes, false, distance, loop_code);
	if (is_atomic || (!is_store && !is_vector && !(size == 3 && kind == 2)))
		loop_code->writes |= register_bit(unsigned_bits_of_instruction(code, 0, 5));
	if (is_atomic)
		loop_code->stored[0] = LOOP_NO_REGISTER;
}

/* Decodes a load or store. False: its kind is not known. */
static bool arm64_decode_load_or_store(u32 code, struct loop_code *loop_code)
{
	u32 target = unsigned_bits_of_instruction(code, 0, 5);

	if ((code & 0x3a000000) == 0x28000000) {
		arm64_decode_pair(code, loop_code);
	} else if ((code & 0x3a000000) == 0x38000000) {
		arm64_decode_single(code, loop_code);
	} else if ((code & 0x3b000000) == 0x18000000) { /* a load from a distance to the pc */
		loop_code->writes =
			unsigned_bits_of_instruction(code, 26, 1) ? 0 : register_bit(target);
	} else if ((code & 0x3f000000) == 0x08000000) {
		/* Exclusive and ordered loads and stores, compare and swap. */
		arm64_set_stored_memory(code, 1U << unsigned_bits_of_instruction(code, 30, 2),
					unsigned_bits_of_instruction(code, 21, 1), 0, loop_code);
		loop_code->stored[0] = loop_code->stored[1] = LOOP_NO_REGISTER;
		loop_code->writes = register_bit(target) |
				    register_bit(unsigned_bits_of_instruction(code, 10, 5)) |
				    register_bit(unsigned_bits_of_instruction(code, 16, 5));
	} else if ((code & 0xbe000000) == 0x0c000000) { /* structures of vectors */
		arm64_set_stored_memory(code, 64, false, 0, loop_code);
		loop_code->is_store = false;
		loop_code->writes = unsigned_bits_of_instruction(code, 23, 1)
					    ? 1U << unsigned_bits_of_instruction(code, 5, 5)
					    : 0;
	} else {
		return false;
	}
	return true;
}

/* True if a vector instruction writes a general register: conversions, moves out of a vector. */
static bool arm64_vector_writes_general_register(u32 code)
{
	u32 kind = unsigned_bits_of_instruction(code, 16, 3);

	if ((code & 0x5f20fc00) == 0x1e200000)
		return kind != 2 && kind != 3 && kind != 7;
	if ((code & 0x5f200000) == 0x1e000000)
		return kind < 2;
	return (code & 0xbfe0fc00) == 0x0e003c00 || (code & 0xbfe0fc00) == 0x0e002c00;
}

/* Decodes arithmetic, of general registers and of vectors. */
static void arm64_decode_arithmetic(u32 code, struct loop_code *loop_code)
{
	u32 target = unsigned_bits_of_instruction(code, 0, 5);
	bool sets_flags = unsigned_bits_of_instruction(code, 29, 1), is_wide = code >> 31;

	/* In add and sub of a constant, register 31 is sp. */
	if ((code & 0x1f800000) == 0x11000000) {
		s64 number = (s64)unsigned_bits_of_instruction(code, 10, 12)
			     << (unsigned_bits_of_instruction(code, 22, 1) ? 12 : 0);

		loop_code->writes = sets_flags ? register_bit(target) : 1U << target;
		if (sets_flags || !is_wide)
			return;
		loop_code->computed = target;
		loop_code->computed_from = unsigned_bits_of_instruction(code, 5, 5);
		loop_code->distance = unsigned_bits_of_instruction(code, 30, 1) ? -number : number;
	} else if ((code & 0x0e000000) == 0x0e000000) {
		loop_code->writes =
			arm64_vector_writes_general_register(code) ? register_bit(target) : 0;
	} else if ((code & 0x1fe00000) != 0x1a400000) { /* not ccmp or ccmn */
		bool may_be_sp =
			(code & 0x1f200000) == 0x0b200000 || (code & 0x1f800000) == 0x12000000;

		loop_code->writes = may_be_sp ? 1U << target : register_bit(target);
		if ((code & 0xffe0ffe0) == 0xaa0003e0 &&
		    unsigned_bits_of_instruction(code, 16, 5) != ARM64_ZERO &&
		    target != ARM64_ZERO) { /* mov */
			loop_code->computed = target;
			loop_code->computed_from = unsigned_bits_of_instruction(code, 16, 5);
		}
	}
}

static bool arm64_decode_loop_code(const u8 *bytes, u64 left, u64 address,
				   struct loop_code *loop_code)
{
	u32 code;

	if (left < ARM64_BYTES || address % ARM64_BYTES)
		return false;
	memcpy(&code, bytes, sizeof(code));
	loop_code->length = ARM64_BYTES;
	if (arm64_decode_flow(code, address, loop_code))
		return true;
	if ((code & 0x0a000000) == 0x08000000)
		return arm64_decode_load_or_store(code, loop_code);
	if ((code & 0x1c000000) != 0x10000000 && (code & 0x0e000000) != 0x0a000000 &&
	    (code & 0x0e000000) != 0x0e000000)
		return false; /* reserved; SVE */
	arm64_decode_arithmetic(code, loop_code);
	return true;
}

bool script_loop_decode_at(const struct script_loop *loop, u64 address, struct loop_code *code)
{
	u64 left;
	const u8 *bytes = script_loop_bytes(loop, address, &left);

	*code = (struct loop_code){.base = LOOP_NO_REGISTER,
				   .stored = {LOOP_NO_REGISTER, LOOP_NO_REGISTER},
				   .computed = LOOP_NO_REGISTER};
	if (!bytes)
		return false;
	return loop->machine == EM_AARCH64 ? arm64_decode_loop_code(bytes, left, address, code)
					   : x86_decode_loop_code(bytes, left, address, code);
}

u32 script_loop_argument_register(const struct script_loop *loop, u32 number)
{
	static const u8 x86_arguments[] = {X86_RDI, X86_RSI};

	return loop->machine == EM_AARCH64 ? number : x86_arguments[number & 1];
}

u32 loop_code_register_stored_at(const struct loop_code *code, s64 displacement)
{
	if (code->is_indexed)
		return LOOP_NO_REGISTER;
	if (code->displacement == displacement)
		return code->stored[0];
	return code->displacement + 8 == displacement ? code->stored[1] : LOOP_NO_REGISTER;
}

/* The DWARF number of a register, by its hardware number. */
static u32 dwarf_register(const struct script_loop *loop, u32 reg)
{
	if (reg >= LOOP_REGISTERS)
		return REGISTER_SLOTS;
	return loop->machine == EM_AARCH64 ? reg : x86_dwarf_register(reg);
}

bool script_loop_bytes_below_cfa(const struct script_loop *loop, u64 address, u32 base,
				 s64 displacement, s64 *below)
{
	const struct unwind_rule *rule = script_loop_rule(loop, address);

	if (!rule || rule->cfa_kind != CFA_REGISTER ||
	    dwarf_register(loop, base) != rule->cfa_register)
		return false;
	*below = (s64)rule->cfa_offset - displacement;
	return *below > 0;
}
