/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instructions are told apart by the classes of the Arm Architecture Reference Manual ("A64
 * instruction set encoding"). A write to x29, x30 or sp that is not followed makes its value
 * unknown. Signing and authenticating an address (PAC) does not change where it leads.
 */
#include "arm64_frame.h"

#include <string.h>

#include "code_file.h"
#include "order.h"

#define FP 29
#define LINK 30
#define SP 31 /* number 31 is the zero register in most instructions */
#define WORD 8
#define NUMBER 8	       /* the register with the number of a system call */
#define NEAR_WORDS 60	       /* slots in the window of stack words of a walk (cfi_rule.c) */
#define DISTANCE_MAX (1 << 28) /* no frame is larger */

static u32 bits(u32 code, u32 from, u32 count)
{
	return code >> from & ((1U << count) - 1);
}

static s64 signed_bits(u32 code, u32 from, u32 count)
{
	return (s64)((u64)code << (64 - from - count)) >> (64 - count);
}

static bool matches_encoding(u32 code, u32 mask, u32 value)
{
	return (code & mask) == value;
}

enum arm64_flow arm64_flow_of(u32 code, s64 *distance)
{
	u32 class = bits(code, 25, 4);

	*distance = 0;
	if (matches_encoding(code, 0xffff0000, 0))
		return ARM64_TRAP; /* udf */
	if (class == 1 || class == 3 || !class)
		return ARM64_NO_INSTRUCTION;
	if (matches_encoding(code, 0x7c000000, 0x14000000)) {
		*distance = 4 * signed_bits(code, 0, 26);
		return code >> 31 ? ARM64_CALL : ARM64_JUMP;
	}
	if (matches_encoding(code, 0xff000000, 0x54000000) ||
	    matches_encoding(code, 0x7e000000, 0x34000000)) {
		*distance = 4 * signed_bits(code, 5, 19);
		return ARM64_BRANCH;
	}
	if (matches_encoding(code, 0x7e000000, 0x36000000)) { /* tbz, tbnz */
		*distance = 4 * signed_bits(code, 5, 14);
		return ARM64_BRANCH;
	}
	/* ret; retaa, retab; retaasppc, retabsppc */
	if (code == 0xd65f03c0 || matches_encoding(code, 0xfffffbff, 0xd65f0bff) ||
	    matches_encoding(code, 0xffc0001f, 0x5500001f))
		return ARM64_RETURN;
	/* br, ret by another register; and the forms that authenticate */
	if (matches_encoding(code, 0xffbffc1f, 0xd61f0000) ||
	    matches_encoding(code, 0xfefff800, 0xd61f0800))
		return ARM64_JUMP_INDIRECT;
	if (matches_encoding(code, 0xfffffc1f, 0xd63f0000) ||
	    matches_encoding(code, 0xfefff800, 0xd63f0800))
		return ARM64_CALL_INDIRECT;
	if (matches_encoding(code, 0xffe0001f, 0xd4000001))
		return ARM64_SYSTEM_CALL;
	if (matches_encoding(code, 0xffe0001f, 0xd4200000) ||
	    matches_encoding(code, 0xffe0001f, 0xd4400000))
		return ARM64_TRAP; /* brk, hlt */
	return ARM64_NEXT;
}

bool arm64_never_falls_through(u32 code)
{
	s64 distance;
	enum arm64_flow flow = arm64_flow_of(code, &distance);

	return flow == ARM64_JUMP || flow == ARM64_JUMP_INDIRECT || flow == ARM64_RETURN ||
	       flow == ARM64_TRAP;
}

bool arm64_makes_address(u32 code, u32 next, s64 here, s64 *address)
{
	s64 distance = signed_bits(code, 5, 19) * 4 | bits(code, 29, 2);

	*address = here + distance;
	if (matches_encoding(code, 0x9f000000, 0x10000000))
		return true;
	*address = (here & ~0xfffLL) + distance * 4096 + bits(next, 10, 12);
	return matches_encoding(code, 0x9f000000, 0x90000000) &&
	       matches_encoding(next, 0xffc00000, 0x91000000) &&
	       bits(next, 5, 5) == bits(code, 0, 5);
}

/* A stub of the PLT jumps to an address that a slot holds. Returns the address of the slot; 0: the
 * code is not a stub. */
static u32 slot_of_stub(const void *bytes, u32 address)
{
	u32 code[3], at;

	memcpy(code, bytes, sizeof(code));
	at = matches_encoding(code[0], 0xffffff3f, 0xd503241f); /* bti */
	if (!matches_encoding(code[at], 0x9f00001f, 0x90000010) ||
	    !matches_encoding(code[at + 1], 0xffc003ff, 0xf9400211))
		return 0;
	return ((address + at * 4) & ~0xfffU) +
	       (u32)(signed_bits(code[at], 5, 19) * 4 | bits(code[at], 29, 2)) * 4096 +
	       bits(code[at + 1], 10, 12) * WORD;
}

static bool is_noreturn_address(const struct code_image *image, u32 address)
{
	u32 index = bisect(image->noreturn_count, i, image->noreturn[i] <= address);

	return index && image->noreturn[index - 1] == address;
}

bool arm64_is_call_without_return(const struct code_image *image, s64 target)
{
	u32 at = (u32)target - image->start, slot = 0;

	if (target < 0 || target > INT32_MAX)
		return false;
	if (target >= image->start && at + 4 * sizeof(u32) <= image->end - image->start)
		slot = slot_of_stub(image->bytes + (at & ~3U), (u32)target);
	return is_noreturn_address(image, target) || is_noreturn_address(image, slot);
}

bool arm64_begins_another(const struct arm64_frame *frame, u32 code)
{
	bool is_pair = matches_encoding(code, 0xfe4003e0, 0xa80003e0) &&
		       (bits(code, 0, 5) == LINK || bits(code, 10, 5) == LINK);
	bool is_single = matches_encoding(code, 0xffc003ff, 0xf90003fe) ||
			 matches_encoding(code, 0xffe003ff, 0xf80003fe);

	if (code == 0xd503233f || code == 0xd503237f || code == 0xd503245f)
		return frame->sp || frame->is_after_call;
	if (frame->is_after_call)
		return is_pair || is_single;
	/* stp x29, x30, [sp, #n]; stp x29, x30, [sp, #-n]!; str x30, [sp, #-n]! */
	return frame->has_link && frame->link_place &&
	       (matches_encoding(code, 0xfec07fff, 0xa8807bfd) ||
		matches_encoding(code, 0xfec07fff, 0xa8007bfd) ||
		matches_encoding(code, 0xffe00fff, 0xf8000ffe));
}

static s32 distance_minus_bytes(s32 distance, s64 bytes)
{
	s64 result = distance - bytes;

	if (distance == DISTANCE_UNKNOWN || distance == FP_IS_CALLERS || result > DISTANCE_MAX ||
	    result < -DISTANCE_MAX)
		return DISTANCE_UNKNOWN;
	return (s32)result;
}

/* The distance of the address in a base register. */
static s32 distance_of_base(const struct arm64_frame *frame, u32 reg)
{
	if (reg == SP)
		return frame->sp;
	return reg == FP && frame->fp != FP_IS_CALLERS ? frame->fp : DISTANCE_UNKNOWN;
}

/* Sets the distance of sp. Registers that were saved below the new sp are lost. */
static void set_sp(struct arm64_frame *frame, s32 distance)
{
	frame->sp = distance;
	if (distance == DISTANCE_UNKNOWN)
		return;
	if (frame->fp_place > distance)
		frame->fp_place = 0;
	if (frame->link_place > distance)
		frame->link_place = 0;
}

/* Notes that a general register gets a value that is not followed. */
static void set_register_unknown(struct arm64_frame *frame, struct arm64_constants *constants,
				 u32 reg)
{
	if (reg == FP)
		frame->fp = DISTANCE_UNKNOWN;
	else if (reg == LINK)
		frame->has_link = frame->is_after_call = 0;
	else if (reg - CONSTANT_FIRST < CONSTANT_COUNT)
		constants->known &= ~(1U << (reg - CONSTANT_FIRST));
}

static void set_constant(struct arm64_frame *frame, struct arm64_constants *constants, u32 reg,
			 u64 value)
{
	set_register_unknown(frame, constants, reg);
	if (reg - CONSTANT_FIRST < CONSTANT_COUNT) {
		constants->value[reg - CONSTANT_FIRST] = value;
		constants->known |= 1U << (reg - CONSTANT_FIRST);
	}
}

static bool get_constant(const struct arm64_constants *constants, u32 reg, u64 *value)
{
	if (reg - CONSTANT_FIRST >= CONSTANT_COUNT ||
	    !(constants->known >> (reg - CONSTANT_FIRST) & 1))
		return false;
	*value = constants->value[reg - CONSTANT_FIRST];
	return true;
}

u32 arm64_system_call_number(const struct arm64_constants *constants)
{
	u64 number;

	return get_constant(constants, NUMBER, &number) ? number : 0;
}

/* Notes that a register, which may be sp, gets the address at a distance below the CFA. */
static void set_register_to_frame_address(struct arm64_frame *frame,
					  struct arm64_constants *constants, u32 reg, s32 distance)
{
	if (reg == SP)
		set_sp(frame, distance);
	else if (reg == FP)
		frame->fp = distance;
	else
		set_register_unknown(frame, constants, reg);
}

/* --- Loads and stores. --- */

/* Applies a load of a register from a word of the stack. The word keeps its value. */
static void load_word(struct arm64_frame *frame, struct arm64_constants *constants, u32 reg,
		      s32 distance)
{
	set_register_unknown(frame, constants, reg);
	if (distance == DISTANCE_UNKNOWN || distance < WORD)
		return;
	if (reg == FP && distance == frame->fp_place)
		frame->fp = FP_IS_CALLERS;
	else if (reg == LINK && distance == frame->link_place)
		frame->has_link = 1;
}

static void store_word(struct arm64_frame *frame, u32 reg, s32 distance)
{
	if (distance == DISTANCE_UNKNOWN || distance < WORD || distance % WORD)
		return;
	if (distance == frame->fp_place && (reg != FP || frame->fp != FP_IS_CALLERS))
		frame->fp_place = 0;
	if (distance == frame->link_place && (reg != LINK || !frame->has_link))
		frame->link_place = 0;
	if (reg == FP && frame->fp == FP_IS_CALLERS && !frame->fp_place)
		frame->fp_place = distance;
	if (reg == LINK && frame->has_link && !frame->link_place)
		frame->link_place = distance;
}

/* When a load or store also writes its base register. */
enum addressing { WRITE_NOTHING, WRITE_AFTER, WRITE_BEFORE };

static void access_memory(struct arm64_frame *frame, struct arm64_constants *constants, u32 code,
			  const u32 *regs, u32 count, bool is_load, bool is_vector, u32 bytes,
			  s64 offset, enum addressing addressing)
{
	u32 base = bits(code, 5, 5);
	s32 start = distance_of_base(frame, base), end = distance_minus_bytes(start, offset);
	s32 at = addressing == WRITE_AFTER ? start : end;

	/* A store that writes the base makes room for what it stores. */
	if (addressing == WRITE_BEFORE && base == SP && !is_load)
		set_sp(frame, end);
	for (u32 i = 0; i < count && !is_vector; i++) {
		s32 distance =
			bytes == WORD ? distance_minus_bytes(at, (s64)i * WORD) : DISTANCE_UNKNOWN;

		if (is_load)
			load_word(frame, constants, regs[i], distance);
		else
			store_word(frame, regs[i], distance);
	}
	if (addressing != WRITE_NOTHING)
		set_register_to_frame_address(frame, constants, base, end);
}

static void step_pair(struct arm64_frame *frame, struct arm64_constants *constants, u32 code)
{
	static const enum addressing addressing[] = {WRITE_NOTHING, WRITE_AFTER, WRITE_NOTHING,
						     WRITE_BEFORE};
	u32 regs[] = {bits(code, 0, 5), bits(code, 10, 5)}, size = bits(code, 30, 2);
	bool is_vector = bits(code, 26, 1), is_load = bits(code, 22, 1);
	u32 bytes = is_vector ? 4U << size : size & 2 ? WORD : 4, unit = bytes;

	if (!is_vector && size == 1 && !is_load) { /* stgp */
		bytes = WORD;
		unit = 16;
	}
	access_memory(frame, constants, code, regs, 2, is_load, is_vector, bytes,
		      signed_bits(code, 15, 7) * unit, addressing[bits(code, 23, 2)]);
}

/* A load or store of one register with an immediate offset. */
static void step_single(struct arm64_frame *frame, struct arm64_constants *constants, u32 code)
{
	static const enum addressing addressing[] = {WRITE_NOTHING, WRITE_AFTER, WRITE_NOTHING,
						     WRITE_BEFORE};
	u32 reg = bits(code, 0, 5), size = bits(code, 30, 2), kind = bits(code, 22, 2);
	bool is_vector = bits(code, 26, 1), is_scaled = bits(code, 24, 1);
	u32 shift = is_vector ? size | (kind & 2) << 1 : size;
	s64 offset = is_scaled ? (s64)bits(code, 10, 12) << shift : signed_bits(code, 12, 9);

	if (!is_vector && size == 3 && kind == 2) /* prfm */
		return;
	access_memory(frame, constants, code, &reg, 1, is_vector ? kind & 1 : kind, is_vector,
		      1U << shift, offset,
		      is_scaled ? WRITE_NOTHING : addressing[bits(code, 10, 2)]);
}

/* Applies all other loads and stores, of which only the registers that they write matter. */
static void step_other_load_or_store(struct arm64_frame *frame, struct arm64_constants *constants,
				     u32 code)
{
	bool is_vector = bits(code, 26, 1);
	bool is_by_register = matches_encoding(code, 0x3b200c00, 0x38200800);
	/* loads and stores that write the base register: of structures of vectors; ldraa, ldrab; of
	 * memory tags */
	bool writes_base =
		(matches_encoding(code, 0xbe000000, 0x0c000000) && bits(code, 23, 1)) ||
		matches_encoding(code, 0xff200c00, 0xf8200c00) ||
		(matches_encoding(code, 0xff200000, 0xd9200000) && bits(code, 10, 2) & 1);

	if (writes_base)
		set_register_to_frame_address(frame, constants, bits(code, 5, 5), DISTANCE_UNKNOWN);
	if (is_vector || (is_by_register &&
			  (!bits(code, 22, 2) || matches_encoding(code, 0xc0c00000, 0xc0800000))))
		return;
	set_register_unknown(frame, constants, bits(code, 0, 5));
	if (matches_encoding(code, 0x3f000000, 0x08000000)) { /* exclusive, compare and swap */
		set_register_unknown(frame, constants, bits(code, 10, 5));
		set_register_unknown(frame, constants, bits(code, 16, 5));
	}
}

static void step_memory(struct arm64_frame *frame, struct arm64_constants *constants, u32 code)
{
	if (matches_encoding(code, 0x3a000000, 0x28000000))
		step_pair(frame, constants, code);
	else if (matches_encoding(code, 0x3b000000, 0x39000000) ||
		 matches_encoding(code, 0x3b200000, 0x38000000))
		step_single(frame, constants, code);
	else
		step_other_load_or_store(frame, constants, code);
}

/* --- Arithmetic. --- */

static void step_add_immediate(struct arm64_frame *frame, struct arm64_constants *constants,
			       u32 code)
{
	u32 reg = bits(code, 0, 5), base = bits(code, 5, 5);
	s64 amount = (s64)bits(code, 10, 12) << (bits(code, 22, 1) ? 12 : 0);
	bool is_wide = code >> 31, sets_flags = bits(code, 29, 1);
	u64 value;

	if (bits(code, 30, 1))
		amount = -amount;
	if (sets_flags || !is_wide) {
		if (reg != SP)
			set_register_unknown(frame, constants, reg);
		else if (!sets_flags)
			set_sp(frame, DISTANCE_UNKNOWN);
	} else if (get_constant(constants, base, &value)) {
		set_register_to_frame_address(frame, constants, reg, DISTANCE_UNKNOWN);
		if (reg != SP)
			set_constant(frame, constants, reg, value + amount);
	} else {
		set_register_to_frame_address(
			frame, constants, reg,
			distance_minus_bytes(distance_of_base(frame, base), amount));
	}
}

/* Adds or subtracts a register, which may be extended; sp may be an operand and the result. */
static void step_add_extended(struct arm64_frame *frame, struct arm64_constants *constants,
			      u32 code)
{
	u32 reg = bits(code, 0, 5), option = bits(code, 13, 3);
	bool sets_flags = bits(code, 29, 1), is_followed = code >> 31 && option == 3; /* uxtx */
	s32 distance = DISTANCE_UNKNOWN;
	u64 value;

	if (is_followed && get_constant(constants, bits(code, 16, 5), &value) &&
	    value < DISTANCE_MAX) {
		s64 amount = (s64)value << bits(code, 10, 3);

		distance = distance_minus_bytes(distance_of_base(frame, bits(code, 5, 5)),
						bits(code, 30, 1) ? -amount : amount);
	}
	if (!sets_flags)
		set_register_to_frame_address(frame, constants, reg, distance);
	else if (reg != SP)
		set_register_unknown(frame, constants, reg);
}

static void step_move_immediate(struct arm64_frame *frame, struct arm64_constants *constants,
				u32 code)
{
	u32 reg = bits(code, 0, 5), kind = bits(code, 29, 2), shift = 16 * bits(code, 21, 2);
	u64 part = (u64)bits(code, 5, 16) << shift, value = 0;
	bool is_known = true;

	if (kind == 3) { /* movk */
		is_known = get_constant(constants, reg, &value);
		value = (value & ~(0xffffULL << shift)) | part;
	} else {
		value = kind ? part : ~part;
	}
	if (is_known)
		set_constant(frame, constants, reg, code >> 31 ? value : (u32)value);
	else
		set_register_unknown(frame, constants, reg);
}

static void step_immediate(struct arm64_frame *frame, struct arm64_constants *constants, u32 code)
{
	u32 reg = bits(code, 0, 5);

	if (matches_encoding(code, 0x1f800000, 0x11000000))
		step_add_immediate(frame, constants, code);
	else if (matches_encoding(code, 0x1f800000, 0x12800000))
		step_move_immediate(frame, constants, code);
	else if (reg == SP &&
		 (matches_encoding(code, 0x1f800000, 0x11800000) ||
		  (matches_encoding(code, 0x1f800000, 0x12000000) && bits(code, 29, 2) != 3)))
		set_sp(frame, DISTANCE_UNKNOWN); /* addg, subg; and, orr, eor */
	else if (reg != SP)
		set_register_unknown(frame, constants, reg);
}

static void step_registers(struct arm64_frame *frame, struct arm64_constants *constants, u32 code)
{
	u32 reg = bits(code, 0, 5);
	u64 value;

	if (matches_encoding(code, 0x1fe00000, 0x0b200000)) {
		step_add_extended(frame, constants, code);
		return;
	}
	/* pacia, autia and the like leave the return address in x30 */
	if (matches_encoding(code, 0xffff0000, 0xdac10000) && reg == LINK)
		return;
	if (matches_encoding(code, 0xffe0fc00, 0x9ac01000) && reg == SP) { /* irg */
		set_sp(frame, DISTANCE_UNKNOWN);
		return;
	}
	/* conditional comparisons set flags only */
	if (reg == SP || matches_encoding(code, 0x1fe00000, 0x1a400000))
		return;
	if (matches_encoding(code, 0x7fe0ffe0, 0x2a0003e0) &&
	    get_constant(constants, bits(code, 16, 5), &value))
		set_constant(frame, constants, reg, code >> 31 ? value : (u32)value);
	else
		set_register_unknown(frame, constants, reg);
}

/* True if an instruction of vectors or floating point writes a general register. */
static bool writes_general_register(u32 code)
{
	u32 kind = bits(code, 16, 3);

	/* conversions, with fixed point, too; smov, umov */
	return ((matches_encoding(code, 0x5f20fc00, 0x1e200000) ||
		 matches_encoding(code, 0x5f200000, 0x1e000000)) &&
		kind != 2 && kind != 3 && kind != 7) ||
	       matches_encoding(code, 0xbfe0fc00, 0x0e002c00) ||
	       matches_encoding(code, 0xbfe0fc00, 0x0e003c00);
}

void arm64_frame_step(struct arm64_frame *frame, struct arm64_constants *constants, u32 code)
{
	u32 class = bits(code, 25, 4), reg = bits(code, 0, 5);

	if ((class & 14) == 8)
		step_immediate(frame, constants, code);
	else if ((class & 7) == 5)
		step_registers(frame, constants, code);
	else if ((class & 5) == 4)
		step_memory(frame, constants, code);
	else if ((class & 7) == 7 && writes_general_register(code))
		set_register_unknown(frame, constants, reg);
	else if (class == 2 && matches_encoding(code, 0xffa0f000, 0x04205000)) /* addvl, addpl */
		set_register_to_frame_address(frame, constants, reg, DISTANCE_UNKNOWN);
	else if (class == 2 || matches_encoding(code, 0xfff00000, 0xd5300000) ||
		 matches_encoding(code, 0xfff80000, 0xd5280000))
		set_register_unknown(frame, constants, reg); /* SVE; mrs, sysl */
}

/* --- States. --- */

bool arm64_frame_is_at_entry(const struct arm64_frame *frame)
{
	return !frame->sp && frame->fp == FP_IS_CALLERS && frame->has_link;
}

bool arm64_frame_keep_common(struct arm64_frame *frame, const struct arm64_frame *other)
{
	if (frame->sp != other->sp) {
		if (frame->fp != other->fp || frame->fp == FP_IS_CALLERS ||
		    frame->fp == DISTANCE_UNKNOWN)
			return false;
		frame->sp = DISTANCE_UNKNOWN;
	}
	if (frame->fp != other->fp)
		frame->fp = DISTANCE_UNKNOWN;
	if (frame->fp_place != other->fp_place)
		frame->fp_place = 0;
	if (frame->link_place != other->link_place)
		frame->link_place = 0;
	frame->has_link &= other->has_link;
	frame->is_after_call &= other->is_after_call;
	return true;
}

static u8 slot_at(s32 place, s64 base)
{
	return place ? slot_of_word_below_base(base - place) : 0;
}

bool arm64_frame_rule(const struct arm64_frame *frame, struct unwind_rule *rule)
{
	bool has_sp = frame->sp != DISTANCE_UNKNOWN;
	u8 link, fp;

	if ((!has_sp && (frame->fp == DISTANCE_UNKNOWN || frame->fp == FP_IS_CALLERS)) ||
	    (!frame->link_place && !frame->has_link))
		return false;
	*rule = (struct unwind_rule){
		.cfa_kind = CFA_REGISTER,
		.cfa_register = has_sp ? REGISTER_SP : REGISTER_FP,
		.cfa_offset = has_sp ? frame->sp : frame->fp,
		.base = RULE_BASE_CFA,
	};
	link = slot_at(frame->link_place, 0);
	fp = slot_at(frame->fp_place, 0);
	if (frame->link_place && (link > NEAR_WORDS || (frame->fp_place && fp > NEAR_WORDS))) {
		s64 above = (s64)rule->cfa_offset - RULE_BASE_BYTES;

		link = slot_at(frame->link_place, above);
		fp = slot_at(frame->fp_place, above);
		rule->base = rule->cfa_register;
	}
	if (!frame->fp_place && frame->fp != FP_IS_CALLERS)
		fp = SLOT_LOST;
	rule->slot[SLOT_FP] = fp;
	rule->slot[SLOT_RETURN] = link;
	return link != SLOT_LOST && rule->cfa_offset >= 0;
}
