/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conditional constant propagation (Wegman and Zadeck, "Constant Propagation with Conditional
 * Branches", 1991) over registers. Beginning at the program's first instruction, each instruction
 * that may be executed is reached, with the register values that all paths to it have in common. A
 * branch that known values decide leads to one side only, until another path to the branch brings
 * other values. A function begins with unknown registers, and is reached by any call, or by its
 * address. Memory other than the map of constants is unknown.
 *
 * Instructions that are not reached are dropped, and also branches that are never taken, and jumps
 * to the instruction that follows directly in the trimmed code. Instructions only move closer
 * together, so each offset of a jump still fits.
 */
#include "capture/load/program_trim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Number of registers whose values are followed: all except the frame pointer, whose value is never
 * known. */
#define REGISTERS 10
#define CALL_CLOBBERS 6

enum value_kind {
	VALUE_ANY,
	VALUE_NUMBER,
	VALUE_PLACE, /* an address in the map of constants: `bits` bytes after the start of the map
		      */
};

struct value {
	enum value_kind kind;
	u64 bits;
};

/* The state of an instruction: what is known before it. The second half of a 16-byte instruction
 * has a point of its own, which is never reached. */
struct point {
	bool is_reached;
	bool is_queued;
	bool is_kept;
	u32 place; /* index of the instruction in the trimmed code; for a dropped instruction, the
		      index of the next kept one */
	struct value value[REGISTERS];
};

struct trim {
	struct bpf_insn *code;
	u32 count;
	int constants;
	const u8 *memory;
	size_t bytes;
	struct point *points; /* the state of each instruction, and one more at the end */
	u32 *queue;
	u32 queued;
};

enum branch { BRANCH_BOTH, BRANCH_ALWAYS, BRANCH_NEVER };

static bool is_64_bit_immediate_load(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_jump(const struct bpf_insn *insn)
{
	u32 class = BPF_CLASS(insn->code), operation = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && operation != BPF_CALL &&
	       operation != BPF_EXIT;
}

/* True for the jump with a 32-bit offset, which is in the instruction's field imm instead of
 * off. */
static bool is_long_jump(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP32 | BPF_JA);
}

static bool is_unconditional_jump(const struct bpf_insn *insn)
{
	return is_jump(insn) && BPF_OP(insn->code) == BPF_JA;
}

/* True if the instruction calls a function of the program, or loads its address; the distance to
 * the function is in the field imm. */
static bool refers_to_function(const struct bpf_insn *insn)
{
	return (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL) ||
	       (is_64_bit_immediate_load(insn) && insn->src_reg == BPF_PSEUDO_FUNC);
}

/* Returns the index of the instruction that a jump leads to, or of the first instruction of the
 * function that instruction i refers to. */
static u32 index_of_jump_or_call_target(const struct trim *trim, u32 i)
{
	const struct bpf_insn *insn = &trim->code[i];

	return i + 1 + (refers_to_function(insn) || is_long_jump(insn) ? insn->imm : insn->off);
}

/* Adds a path to instruction i, on which the registers have the values `value`. Queues the
 * instruction if it was not reached before, or if fewer values are common to all paths now. */
static void add_path_to_instruction(struct trim *trim, u32 i, const struct value *value)
{
	struct point *point;
	bool is_new;

	if (i >= trim->count)
		return;
	point = &trim->points[i];
	is_new = !point->is_reached;
	if (is_new) {
		point->is_reached = true;
		memcpy(point->value, value, sizeof(point->value));
	}
	for (u32 r = 0; r < REGISTERS && point->is_reached; r++)
		if (point->value[r].kind != VALUE_ANY && (point->value[r].kind != value[r].kind ||
							  point->value[r].bits != value[r].bits)) {
			point->value[r] = (struct value){};
			is_new = true;
		}
	if (!is_new || point->is_queued)
		return;
	point->is_queued = true;
	trim->queue[trim->queued++] = i;
}

static void add_path_to_function(struct trim *trim, u32 i)
{
	static const struct value unknown[REGISTERS];

	add_path_to_instruction(trim, i, unknown);
}

static struct value constant_value(u64 bits)
{
	return (struct value){.kind = VALUE_NUMBER, .bits = bits};
}

/* Returns the second operand of a calculation or a comparison. */
static struct value value_of_second_operand(const struct bpf_insn *insn, const struct value *value)
{
	if (BPF_SRC(insn->code) == BPF_K)
		return constant_value((s64)insn->imm);
	return insn->src_reg < REGISTERS ? value[insn->src_reg] : (struct value){};
}

static struct value calculate_value(const struct bpf_insn *insn, struct value a, struct value b)
{
	bool is_wide = BPF_CLASS(insn->code) == BPF_ALU64;
	u64 x = is_wide ? a.bits : (u32)a.bits, y = is_wide ? b.bits : (u32)b.bits, bits;
	u32 op = BPF_OP(insn->code);

	if (insn->off)
		return (struct value){};
	if (op == BPF_MOV && (is_wide || b.kind == VALUE_NUMBER))
		return (struct value){.kind = b.kind, .bits = y};
	if (op == BPF_ADD && is_wide && a.kind == VALUE_PLACE && b.kind == VALUE_NUMBER)
		return (struct value){.kind = VALUE_PLACE, .bits = x + y};
	if (a.kind != VALUE_NUMBER || b.kind != VALUE_NUMBER)
		return (struct value){};
	switch (op) {
	case BPF_ADD:
		bits = x + y;
		break;
	case BPF_SUB:
		bits = x - y;
		break;
	case BPF_AND:
		bits = x & y;
		break;
	case BPF_OR:
		bits = x | y;
		break;
	case BPF_XOR:
		bits = x ^ y;
		break;
	case BPF_LSH:
		bits = x << (y & (is_wide ? 63 : 31));
		break;
	case BPF_RSH:
		bits = x >> (y & (is_wide ? 63 : 31));
		break;
	default:
		return (struct value){};
	}
	return constant_value(is_wide ? bits : (u32)bits);
}

static struct value load_value_of_constant(const struct trim *trim, const struct bpf_insn *insn,
					   const struct value *value)
{
	static const u8 sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};
	struct value from = insn->src_reg < REGISTERS ? value[insn->src_reg] : (struct value){};
	u64 at = from.bits + insn->off, bits = 0;
	u32 size = sizes[BPF_SIZE(insn->code) >> 3];

	if (BPF_MODE(insn->code) != BPF_MEM || from.kind != VALUE_PLACE || at > trim->bytes ||
	    size > trim->bytes - at)
		return (struct value){};
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the first bytes of a number are its lowest"
#endif
	memcpy(&bits, trim->memory + at, size);
	return constant_value(bits);
}

static struct value value_of_64_bit_immediate_load(const struct trim *trim, u32 i)
{
	const struct bpf_insn *insn = &trim->code[i];

	if (insn->src_reg == BPF_PSEUDO_MAP_VALUE && insn->imm == trim->constants)
		return (struct value){.kind = VALUE_PLACE, .bits = (u32)insn[1].imm};
	return insn->src_reg ? (struct value){}
			     : constant_value((u32)insn->imm | (u64)insn[1].imm << 32);
}

/* Sets the registers to what they are after instruction i. */
static void execute_instruction(const struct trim *trim, u32 i, struct value *value)
{
	const struct bpf_insn *insn = &trim->code[i];
	struct value result = {};
	u32 clobbered = 0;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		if (insn->dst_reg < REGISTERS && BPF_OP(insn->code) != BPF_END)
			result = calculate_value(insn, value[insn->dst_reg],
						 value_of_second_operand(insn, value));
		break;
	case BPF_LDX:
		result = load_value_of_constant(trim, insn, value);
		break;
	case BPF_LD:
		if (is_64_bit_immediate_load(insn))
			result = value_of_64_bit_immediate_load(trim, i);
		else
			clobbered = CALL_CLOBBERS;
		break;
	case BPF_STX:
		/* an atomic instruction returns the former value of the memory in its source
		 * register or in r0 */
		if (BPF_MODE(insn->code) != BPF_MEM && insn->src_reg < REGISTERS) {
			value[insn->src_reg] = (struct value){};
			value[0] = (struct value){};
			if (insn->dst_reg < REGISTERS) /* load-acquire (-mcpu=v4) */
				value[insn->dst_reg] = (struct value){};
		}
		return;
	case BPF_ST:
		return;
	default:
		if (BPF_OP(insn->code) != BPF_CALL)
			return;
		clobbered = CALL_CLOBBERS;
	}
	if (!clobbered && insn->dst_reg < REGISTERS)
		value[insn->dst_reg] = result;
	memset(value, 0, clobbered * sizeof(*value));
}

static bool evaluate_jump_condition(u32 op, u64 x, u64 y, s64 signed_x, s64 signed_y)
{
	switch (op) {
	case BPF_JEQ:
		return x == y;
	case BPF_JNE:
		return x != y;
	case BPF_JGT:
		return x > y;
	case BPF_JGE:
		return x >= y;
	case BPF_JLT:
		return x < y;
	case BPF_JLE:
		return x <= y;
	case BPF_JSGT:
		return signed_x > signed_y;
	case BPF_JSGE:
		return signed_x >= signed_y;
	case BPF_JSLT:
		return signed_x < signed_y;
	case BPF_JSLE:
		return signed_x <= signed_y;
	default: /* BPF_JSET */
		return x & y;
	}
}

static enum branch decide_branch(const struct bpf_insn *insn, const struct value *value)
{
	struct value a = insn->dst_reg < REGISTERS ? value[insn->dst_reg] : (struct value){};
	struct value b = value_of_second_operand(insn, value);
	u32 op = BPF_OP(insn->code);
	bool is_true;

	if (is_unconditional_jump(insn))
		return BRANCH_ALWAYS;
	if (a.kind != VALUE_NUMBER || b.kind != VALUE_NUMBER || op > BPF_JSLE)
		return BRANCH_BOTH;
	is_true = BPF_CLASS(insn->code) == BPF_JMP
			  ? evaluate_jump_condition(op, a.bits, b.bits, a.bits, b.bits)
			  : evaluate_jump_condition(op, (u32)a.bits, (u32)b.bits, (s32)a.bits,
						    (s32)b.bits);
	return is_true ? BRANCH_ALWAYS : BRANCH_NEVER;
}

static void add_paths_after_instruction(struct trim *trim, u32 i)
{
	const struct bpf_insn *insn = &trim->code[i];
	struct value value[REGISTERS];
	enum branch branch = BRANCH_NEVER;

	memcpy(value, trim->points[i].value, sizeof(value));
	if (refers_to_function(insn))
		add_path_to_function(trim, index_of_jump_or_call_target(trim, i));
	if (is_jump(insn))
		branch = decide_branch(insn, value);
	else
		execute_instruction(trim, i, value);
	if (branch != BRANCH_NEVER)
		add_path_to_instruction(trim, index_of_jump_or_call_target(trim, i), value);
	if (branch != BRANCH_ALWAYS && insn->code != (BPF_JMP | BPF_EXIT))
		add_path_to_instruction(trim, i + 1 + is_64_bit_immediate_load(insn), value);
}

/* Decides which instructions are kept, beginning at the last one: an unconditional jump is dropped
 * if all instructions between it and its target are dropped. */
static void mark_kept_instructions(struct trim *trim)
{
	struct point *points = trim->points;
	u32 kept = 0;

	/* In this loop point.place is the number of kept instructions from here to the end of the
	 * code. */
	points[trim->count].place = 0;
	for (u32 i = trim->count; i-- > 0;) {
		struct bpf_insn *insn = &trim->code[i];
		struct point *point = &points[i];
		enum branch branch = BRANCH_BOTH;

		if (point->is_reached && is_jump(insn))
			branch = decide_branch(insn, point->value);
		point->is_kept =
			point->is_reached && branch != BRANCH_NEVER &&
			(branch != BRANCH_ALWAYS || index_of_jump_or_call_target(trim, i) <= i ||
			 points[index_of_jump_or_call_target(trim, i)].place != kept);
		if (point->is_kept) {
			kept += 1 + is_64_bit_immediate_load(insn);
			if (branch == BRANCH_ALWAYS && !is_unconditional_jump(insn))
				*insn = (struct bpf_insn){.code = BPF_JMP | BPF_JA,
							  .off = insn->off};
		}
		point->place = kept;
	}
	for (u32 i = 0; i <= trim->count; i++)
		points[i].place = kept - points[i].place;
}

/* Moves a kept instruction to its place in the trimmed code. The instruction that is overwritten
 * there was moved before, or dropped. */
static void move_instruction(struct trim *trim, u32 i)
{
	struct bpf_insn *insn = &trim->code[i];
	u32 place = trim->points[i].place, target = index_of_jump_or_call_target(trim, i);

	if (refers_to_function(insn) || is_long_jump(insn))
		insn->imm = trim->points[target].place - place - 1;
	else if (is_jump(insn))
		insn->off = trim->points[target].place - place - 1;
	memmove(&trim->code[place], insn, (1 + is_64_bit_immediate_load(insn)) * sizeof(*insn));
}

/* Adapts the records of func_info or line_info (BTF debug information of a program). A record
 * begins with the index of the first instruction that it describes; records whose instructions are
 * all dropped are removed. Returns the number of records that are left. */
static u32 move_func_and_line_info(const struct trim *trim, const void *records, u32 count,
				   u32 bytes)
{
	u8 *to = (u8 *)records;
	const u8 *from = records;
	u32 left = 0;

	for (u32 i = 0; i < count; i++, from += bytes) {
		u32 first = *(const u32 *)from, end = trim->count, place;

		if (i + 1 < count)
			end = *(const u32 *)(from + bytes);
		place = trim->points[first].place;
		if (trim->points[end].place == place)
			continue;
		memmove(to, from, bytes);
		*(u32 *)to = place;
		to += bytes;
		left++;
	}
	return left;
}

int program_trim(struct program_image *image, int constants, const void *memory, size_t bytes)
{
	struct bpf_prog_load_opts *options = &image->options;
	struct trim trim = {
		.code = image->code,
		.count = image->count,
		.constants = constants,
		.memory = memory,
		.bytes = bytes,
		.points = calloc(image->count + 1, sizeof(*trim.points)),
		.queue = calloc(image->count + 1, sizeof(*trim.queue)),
	};
	int result = trim.points && trim.queue ? 0 : -ENOMEM;

	if (!result) {
		add_path_to_function(&trim, 0);
		while (trim.queued) {
			u32 i = trim.queue[--trim.queued];

			trim.points[i].is_queued = false;
			add_paths_after_instruction(&trim, i);
		}
		mark_kept_instructions(&trim);
		for (u32 i = 0; i < trim.count; i++)
			if (trim.points[i].is_kept)
				move_instruction(&trim, i);
		image->count = trim.points[trim.count].place;
		options->func_info_cnt =
			move_func_and_line_info(&trim, options->func_info, options->func_info_cnt,
						options->func_info_rec_size);
		options->line_info_cnt =
			move_func_and_line_info(&trim, options->line_info, options->line_info_cnt,
						options->line_info_rec_size);
	}
	free(trim.points);
	free(trim.queue);
	return result;
}
