/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs whose constants are known, and the code that is left of them. */
#include <string.h>

#include "capture/load/program_trim.h"
#include "unit_test.h"

#define CONSTANTS 7 /* the descriptor of their map */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define CONSTANT(reg, offset)                                                                      \
	{.code = BPF_LD | BPF_IMM | BPF_DW,                                                        \
	 .dst_reg = (reg),                                                                         \
	 .src_reg = BPF_PSEUDO_MAP_VALUE,                                                          \
	 .imm = CONSTANTS},                                                                        \
	{                                                                                          \
		.imm = (offset)                                                                    \
	}
#define FUNCTION(reg, distance)                                                                    \
	{.code = BPF_LD | BPF_IMM | BPF_DW,                                                        \
	 .dst_reg = (reg),                                                                         \
	 .src_reg = BPF_PSEUDO_FUNC,                                                               \
	 .imm = (distance)},                                                                       \
	{                                                                                          \
	}
#define LOAD(to, from, offset)                                                                     \
	{                                                                                          \
		.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = (to), .src_reg = (from),             \
		.off = (offset)                                                                    \
	}
#define SET(reg, number)                                                                           \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (number)             \
	}
#define ADD(reg, number)                                                                           \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (reg), .imm = (number)             \
	}
#define JUMP_IF(op, reg, number, distance)                                                         \
	{                                                                                          \
		.code = BPF_JMP | (op) | BPF_K, .dst_reg = (reg), .imm = (number),                 \
		.off = (distance)                                                                  \
	}
#define JUMP(distance)                                                                             \
	{                                                                                          \
		.code = BPF_JMP | BPF_JA, .off = (distance)                                        \
	}
#define CALL(distance)                                                                             \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = (distance)          \
	}
#define HELPER(number)                                                                             \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .imm = (number)                                        \
	}
#define EXIT                                                                                       \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}

static const u32 constants[] = {0, 3, 100};

static struct program_image image_of(struct bpf_insn *code, u32 count)
{
	return (struct program_image){.code = code, .count = count};
}

static void assert_trimmed(struct program_image *image, const struct bpf_insn *expected, u32 count)
{
	assert_int_equal(program_trim(image, CONSTANTS, constants, sizeof(constants)), 0);
	assert_int_equal(image->count, count);
	assert_memory_equal(image->code, expected, count * sizeof(*expected));
}

TEST(a_branch_that_constants_decide_is_removed_with_the_functions_it_calls)
{
	struct bpf_insn code[] = {
		/* 0 */ CONSTANT(1, 4),
		/* 2 */ LOAD(2, 1, -4),
		/* 3 */ JUMP_IF(BPF_JEQ, 2, 0, 1),
		/* 4 */ CALL(4),
		/* 5 */ LOAD(2, 1, 0),
		/* 6 */ JUMP_IF(BPF_JNE, 2, 3, 1),
		/* 7 */ CALL(3),
		/* 8 */ EXIT,
		/* 9, ruled out */ SET(0, 1),
		/* 10 */ EXIT,
		/* 11 */ SET(0, 2),
		/* 12 */ EXIT,
	};
	const struct bpf_insn expected[] = {
		/* 0 */ CONSTANT(1, 4), /* 2 */ LOAD(2, 1, -4), /* 3 */ LOAD(2, 1, 0),
		/* 4 */ CALL(1),	/* 5 */ EXIT,		/* 6 */ SET(0, 2),
		/* 7 */ EXIT,
	};
	struct bpf_func_info functions[] = {{0, 50}, {9, 51}, {11, 52}};
	struct bpf_line_info lines[] = {{0, 1, 1, 1}, {3, 1, 1, 2}, {4, 1, 1, 3},  {5, 1, 1, 4},
					{8, 1, 1, 5}, {9, 1, 1, 6}, {11, 1, 1, 7}, {12, 1, 1, 8}};
	struct program_image image = image_of(code, COUNT(code));

	image.options.func_info = functions;
	image.options.func_info_cnt = COUNT(functions);
	image.options.func_info_rec_size = sizeof(*functions);
	image.options.line_info = lines;
	image.options.line_info_cnt = COUNT(lines);
	image.options.line_info_rec_size = sizeof(*lines);
	assert_trimmed(&image, expected, COUNT(expected));
	assert_int_equal(image.options.func_info_cnt, 2);
	assert_int_equal(functions[1].insn_off, 6);
	assert_int_equal(functions[1].type_id, 52);
	assert_int_equal(image.options.line_info_cnt, 5);
	assert_int_equal(lines[1].insn_off, 3);
	assert_int_equal(lines[1].line_col, 4);
	assert_int_equal(lines[2].insn_off, 5);
	assert_int_equal(lines[4].insn_off, 7);
	assert_int_equal(lines[4].line_col, 8);
}

TEST(a_register_with_two_values_decides_no_branch)
{
	struct bpf_insn code[] = {
		/* 0 */ HELPER(5),
		/* 1 */ SET(2, 1),
		/* 2 */ JUMP_IF(BPF_JEQ, 0, 0, 1),
		/* 3 */ SET(2, 2),
		/* 4 */ JUMP_IF(BPF_JEQ, 2, 1, 1),
		/* 5 */ SET(0, 0),
		/* 6 */ EXIT,
	};
	struct bpf_insn whole[COUNT(code)];
	struct program_image image = image_of(code, COUNT(code));

	memcpy(whole, code, sizeof(code));
	assert_trimmed(&image, whole, COUNT(whole));
}

TEST(a_loop_is_not_decided_by_its_first_turn)
{
	struct bpf_insn code[] = {
		/* 0 */ SET(6, 0), /* 1 */ JUMP_IF(BPF_JGT, 6, 9, 2),
		/* 2 */ ADD(6, 1), /* 3 */ JUMP(-3),
		/* 4 */ SET(0, 0), /* 5 */ EXIT,
	};
	struct bpf_insn whole[COUNT(code)];
	struct program_image image = image_of(code, COUNT(code));

	memcpy(whole, code, sizeof(code));
	assert_trimmed(&image, whole, COUNT(whole));
}

TEST(a_branch_always_taken_becomes_a_jump)
{
	struct bpf_insn code[] = {
		/* 0 */ HELPER(5),
		/* 1 */ JUMP_IF(BPF_JEQ, 0, 0, 4),
		/* 2 */ SET(2, 4),
		/* 3 */ JUMP_IF(BPF_JLT, 2, 5, 3),
		/* 4, ruled out */ SET(0, 1),
		/* 5, ruled out */ EXIT,
		/* 6 */ SET(0, 2),
		/* 7 */ EXIT,
	};
	const struct bpf_insn expected[] = {
		HELPER(5), JUMP_IF(BPF_JEQ, 0, 0, 2), SET(2, 4), JUMP(1), SET(0, 2), EXIT,
	};
	struct program_image image = image_of(code, COUNT(code));

	assert_trimmed(&image, expected, COUNT(expected));
}

TEST(a_function_given_by_its_address_stays)
{
	struct bpf_insn code[] = {
		/* 0 */ SET(1, 1),
		/* 1 */ JUMP_IF(BPF_JNE, 1, 0, 2),
		/* 2, ruled out */ FUNCTION(2, 6),
		/* 4 */ FUNCTION(2, 2),
		/* 6 */ EXIT,
		/* 7 */ SET(0, 1),
		/* 8 */ EXIT,
		/* 9, ruled out */ SET(0, 2),
		/* 10 */ EXIT,
	};
	const struct bpf_insn expected[] = {
		SET(1, 1), FUNCTION(2, 2), EXIT, SET(0, 1), EXIT,
	};
	struct program_image image = image_of(code, COUNT(code));

	assert_trimmed(&image, expected, COUNT(expected));
}

TEST(a_number_after_the_constants_is_not_known)
{
	struct bpf_insn code[] = {
		CONSTANT(1, 8), LOAD(2, 1, 4), JUMP_IF(BPF_JEQ, 2, 0, 1), SET(0, 0), EXIT,
	};
	struct bpf_insn whole[COUNT(code)];
	struct program_image image = image_of(code, COUNT(code));

	memcpy(whole, code, sizeof(code));
	assert_trimmed(&image, whole, COUNT(whole));
}
