/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules found in code of arm64, on any machine: the analysis is built with arm64's registers. */
#include <string.h>

#include "symbol/unwind/arm64_analysis.h"
#include "unit_test.h"

#define BASE 0x10000
#define FP 29
#define LINK 30
#define PAIR(code, a, b, bytes)                                                                    \
	((code) | ((u32)((bytes) / 8) & 0x7f) << 15 | (b) << 10 | 31 << 5 | (a))
#define STP_BEFORE(a, b, bytes) PAIR(0xa9800000, a, b, -(bytes)) /* stp a, b, [sp, #-bytes]! */
#define LDP_AFTER(a, b, bytes) PAIR(0xa8c00000, a, b, bytes)	 /* ldp a, b, [sp], #bytes */
#define STP(a, b, bytes) PAIR(0xa9000000, a, b, bytes)		 /* stp a, b, [sp, #bytes] */
#define LDP(a, b, bytes) PAIR(0xa9400000, a, b, bytes)
#define SUB_SP(bytes) (0xd10003ff | (bytes) << 10)
#define ADD_SP(bytes) (0x910003ff | (bytes) << 10)
#define ADD_FP_SP(bytes) (0x910003fd | (bytes) << 10) /* add x29, sp, #bytes */
#define MOV_SP_FP 0x910003bf			      /* mov sp, x29 */
#define SUB_SP_REGISTER(reg) (0xcb2063ff | (reg) << 16)
#define ADD_SP_REGISTER(reg) (0x8b2063ff | (reg) << 16)
#define MOV(reg, number) (0xd2800000 | (number) << 5 | (reg))
#define B(distance) (0x14000000 | ((distance)&0x3ffffff)) /* in instructions */
#define BL(distance) (0x94000000 | ((distance)&0x3ffffff))
#define CBZ(reg, distance) (0xb4000000 | ((distance)&0x7ffff) << 5 | (reg))
#define BR(reg) (0xd61f0000 | (reg) << 5)
#define BLR(reg) (0xd63f0000 | (reg) << 5)
#define RET 0xd65f03c0
#define NOP 0xd503201f
#define PACIASP 0xd503233f
#define AUTIASP 0xd50323bf
#define SVC 0xd4000001
#define BRK 0xd4200000
#define OTHER 0xaa0103e0 /* mov x0, x1 */

static struct arm64_analysis *analysis;
static struct unwind_rule rule;

/* Analyses code that begins with a function, and has more of them at `starts`, which end with 0. */
static void analyse(const u32 *code, u32 count, bool has_symbols, const u32 *starts)
{
	static struct file_span section, symbols[4];
	static struct code_image image;
	u32 symbol_count = 0;

	section = (struct file_span){BASE, BASE + 4 * count};
	symbols[symbol_count++] = (struct file_span){BASE, BASE};
	for (; *starts; starts++)
		symbols[symbol_count++] =
			(struct file_span){BASE + 4 * *starts, BASE + 4 * *starts};
	image = (struct code_image){
		.bytes = (const u8 *)code,
		.start = section.start,
		.end = section.end,
		.has_symbols = has_symbols,
		.sections = &section,
		.section_count = 1,
		.symbols = symbols,
		.symbol_count = has_symbols ? symbol_count : 0,
	};
	assert_int_equal(arm64_analysis_create(&image, &analysis), 0);
}

#define ANALYSE(code, ...)                                                                         \
	analyse(code, sizeof(code) / sizeof((code)[0]), true,                                      \
		(const u32[]){__VA_ARGS__ __VA_OPT__(, ) 0})

static int end(void **state)
{
	(void)state;
	arm64_analysis_free(&analysis);
	return 0;
}

/* True if an instruction has a rule, which is then in `rule`. */
static bool has_rule(u32 at)
{
	u32 address = BASE + 4 * at, end;

	return arm64_analysis_next_rule(analysis, &address, address + 4, &rule, &end);
}

static void assert_rule(u32 at, u32 reg, s32 offset, u32 fp, u32 link)
{
	assert_true(has_rule(at));
	assert_int_equal(rule.cfa_kind, CFA_REGISTER);
	assert_int_equal(rule.cfa_register, reg);
	assert_int_equal(rule.cfa_offset, offset);
	assert_int_equal(rule.slot[SLOT_FP], fp);
	assert_int_equal(rule.slot[SLOT_RETURN], link);
	assert_int_equal(rule.base, RULE_BASE_CFA);
}

TEST(each_instruction_of_a_function_has_the_rule_of_its_frame, NULL, end)
{
	static const u32 code[] = {PACIASP, STP_BEFORE(FP, LINK, 48), ADD_FP_SP(0),
				   BLR(1),  LDP_AFTER(FP, LINK, 48),  AUTIASP,
				   RET};

	ANALYSE(code);
	assert_rule(0, REGISTER_SP, 0, 0, 0);
	assert_rule(1, REGISTER_SP, 0, 0, 0);
	assert_rule(2, REGISTER_SP, 48, 6, 5);
	assert_rule(3, REGISTER_SP, 48, 6, 5);
	assert_rule(4, REGISTER_SP, 48, 6, 5);
	assert_rule(5, REGISTER_SP, 0, 0, 0);
	assert_rule(6, REGISTER_SP, 0, 0, 0);
}

TEST(a_function_without_calls_keeps_its_return_address_in_x30, NULL, end)
{
	static const u32 code[] = {SUB_SP(32),	    STP(19, 20, 16), OTHER,
				   LDP(19, 20, 16), ADD_SP(32),	     RET};

	ANALYSE(code);
	assert_rule(2, REGISTER_SP, 32, 0, 0);
	assert_rule(5, REGISTER_SP, 0, 0, 0);
}

TEST(a_frame_of_unknown_size_is_found_by_x29, NULL, end)
{
	static const u32 code[] = {
		STP_BEFORE(FP, LINK, 32), ADD_FP_SP(0), SUB_SP_REGISTER(0), BLR(1), MOV_SP_FP,
		LDP_AFTER(FP, LINK, 32),  RET};

	ANALYSE(code);
	assert_rule(3, REGISTER_FP, 32, 4, 3);
	assert_rule(4, REGISTER_FP, 32, 4, 3);
	assert_rule(5, REGISTER_SP, 32, 4, 3);
	assert_rule(6, REGISTER_SP, 0, 0, 0);
}

TEST(slots_of_a_large_frame_count_from_sp, NULL, end)
{
	static const u32 code[] = {
		MOV(12, 20016),	  SUB_SP_REGISTER(12), STP(FP, LINK, 0),    ADD_FP_SP(0), BLR(1),
		LDP(FP, LINK, 0), MOV(12, 20016),      ADD_SP_REGISTER(12), RET};

	ANALYSE(code);
	assert_true(has_rule(4));
	assert_int_equal(rule.cfa_register, REGISTER_SP);
	assert_int_equal(rule.cfa_offset, 20016);
	assert_int_equal(rule.base, REGISTER_SP);
	assert_int_equal(rule.slot[SLOT_FP], RULE_BASE_WORDS);
	assert_int_equal(rule.slot[SLOT_RETURN], RULE_BASE_WORDS - 1);
	assert_rule(8, REGISTER_SP, 0, 0, 0);
}

TEST(a_return_with_something_on_the_stack_undoes_the_function, NULL, end)
{
	static const u32 code[] = {SUB_SP(32), CBZ(0, 2), RET, ADD_SP(32), RET};

	ANALYSE(code);
	for (u32 at = 0; at < 5; at++)
		assert_false(has_rule(at));
}

TEST(two_depths_at_one_place_undo_the_function, NULL, end)
{
	static const u32 code[] = {CBZ(0, 2), SUB_SP(16), OTHER, RET};

	ANALYSE(code);
	for (u32 at = 0; at < 4; at++)
		assert_false(has_rule(at));
}

TEST(a_lost_return_address_has_no_rule_and_a_saved_one_has, NULL, end)
{
	/* x30 gets another value, and comes back from the stack */
	static const u32 code[] = {STP_BEFORE(19, LINK, 16), MOV(LINK, 1), LDP_AFTER(19, LINK, 16),
				   RET};
	static const u32 lost[] = {MOV(LINK, 1), OTHER, BRK};

	ANALYSE(code);
	assert_rule(2, REGISTER_SP, 16, 0, 1);
	assert_rule(3, REGISTER_SP, 0, 0, 0);
	arm64_analysis_free(&analysis);
	ANALYSE(lost);
	assert_rule(0, REGISTER_SP, 0, 0, 0);
	assert_false(has_rule(1));
}

TEST(an_overwritten_return_address_has_no_rule, NULL, end)
{
	static const u32 code[] = {STP_BEFORE(FP, LINK, 32), BLR(1), STP(19, 20, 8), OTHER, BRK};

	ANALYSE(code);
	assert_rule(2, REGISTER_SP, 32, 4, 3);
	assert_false(has_rule(3));
}

TEST(code_after_a_callee_that_does_not_return_belongs_to_the_next_function, NULL, end)
{
	static const u32 code[] = {STP_BEFORE(FP, LINK, 16), BL(3), RET, NOP, BRK};

	ANALYSE(code);
	assert_rule(1, REGISTER_SP, 16, 2, 1);
	assert_rule(2, REGISTER_SP, 0, 0, 0);
	assert_rule(4, REGISTER_SP, 0, 0, 0);
}

TEST(a_callee_that_ends_in_a_jump_to_a_function_that_returns_returns, NULL, end)
{
	static const u32 code[] = {
		STP_BEFORE(FP, LINK, 16), BL(3), LDP_AFTER(FP, LINK, 16), RET, B(1), RET};

	ANALYSE(code, 4, 5);
	assert_rule(2, REGISTER_SP, 16, 2, 1);
	assert_rule(3, REGISTER_SP, 0, 0, 0);
}

TEST(targets_of_an_indirect_jump_have_the_frame_of_the_jump, NULL, end)
{
	static const u32 code[] = {STP_BEFORE(FP, LINK, 16), BR(0), OTHER, LDP_AFTER(FP, LINK, 16),
				   RET};

	ANALYSE(code);
	assert_rule(2, REGISTER_SP, 16, 2, 1);
	assert_rule(4, REGISTER_SP, 0, 0, 0);
}

TEST(code_that_makes_a_thread_has_no_rules, NULL, end)
{
	static const u32 code[] = {MOV(8, 220), SVC, RET};
	static const u32 other[] = {MOV(8, 172), SVC, RET};

	ANALYSE(code);
	assert_false(has_rule(0));
	assert_false(has_rule(2));
	arm64_analysis_free(&analysis);
	ANALYSE(other);
	assert_rule(2, REGISTER_SP, 0, 0, 0);
}

TEST(without_symbols_a_start_after_an_end_needs_an_exit, NULL, end)
{
	/* a function; a function; data; the end of a function whose begin is not known */
	static const u32 code[] = {OTHER,      RET, SUB_SP(16),
				   ADD_SP(16), RET, 0x00012345,
				   0x00012345, BRK, LDP_AFTER(FP, LINK, 16),
				   RET};

	analyse(code, 10, false, (const u32[]){0});
	assert_rule(0, REGISTER_SP, 0, 0, 0);
	assert_rule(3, REGISTER_SP, 16, 0, 0);
	for (u32 at = 5; at < 10; at++)
		assert_false(has_rule(at));
}

TEST(a_call_ends_its_path_if_another_function_begins_after_it, NULL, end)
{
	/* a function whose last call does not return, and one that returns or does not */
	static const u32 returns[] = {
		STP_BEFORE(FP, LINK, 32), CBZ(0, 3), LDP_AFTER(FP, LINK, 32), RET, BLR(1), OTHER,
		STP_BEFORE(FP, LINK, 16), BLR(1),    LDP_AFTER(FP, LINK, 16), RET};
	static const u32 stays[] = {STP_BEFORE(FP, LINK, 32),
				    CBZ(0, 3),
				    LDP_AFTER(FP, LINK, 32),
				    RET,
				    BLR(1),
				    STP(FP, LINK, 16),
				    BLR(1),
				    BRK};

	for (u32 has_symbols = 0; has_symbols < 2; has_symbols++) {
		analyse(returns, 10, has_symbols, (const u32[]){0});
		assert_rule(3, REGISTER_SP, 0, 0, 0);
		assert_rule(4, REGISTER_SP, 32, 4, 3);
		assert_rule(5, REGISTER_SP, 0, 0, 0);
		assert_rule(8, REGISTER_SP, 16, 2, 1);
		arm64_analysis_free(&analysis);
		analyse(stays, 8, has_symbols, (const u32[]){0});
		assert_rule(4, REGISTER_SP, 32, 4, 3);
		assert_false(has_rule(5));
		assert_false(has_rule(6));
		arm64_analysis_free(&analysis);
	}
}

TEST(a_call_ends_its_path_if_the_code_after_it_is_called_or_jumped_to, NULL, end)
{
	static const u32 called[] = {STP_BEFORE(FP, LINK, 32),
				     CBZ(0, 3),
				     LDP_AFTER(FP, LINK, 32),
				     RET,
				     BLR(1),
				     SUB_SP(16),
				     B(0),
				     OTHER,
				     STP_BEFORE(FP, LINK, 48),
				     BL(-4),
				     BRK};
	static const u32 jumped_to[] = {STP_BEFORE(FP, LINK, 32),
					CBZ(0, 3),
					LDP_AFTER(FP, LINK, 32),
					RET,
					BLR(1),
					SUB_SP(16),
					B(0),
					OTHER,
					B(-3)};

	ANALYSE(called, 7);
	assert_rule(4, REGISTER_SP, 32, 4, 3);
	assert_rule(5, REGISTER_SP, 0, 0, 0);
	assert_rule(6, REGISTER_SP, 16, 0, 0);
	arm64_analysis_free(&analysis);
	ANALYSE(jumped_to, 7);
	assert_rule(4, REGISTER_SP, 32, 4, 3);
	assert_rule(5, REGISTER_SP, 0, 0, 0);
	assert_rule(6, REGISTER_SP, 16, 0, 0);
}

TEST(code_of_an_indirect_jump_ends_before_the_next_function, NULL, end)
{
	/* x30 still has the return address at the jump; the last block does not end */
	static const u32 code[] = {STP_BEFORE(FP, LINK, 16),
				   BR(0),
				   LDP_AFTER(FP, LINK, 16),
				   RET,
				   OTHER,
				   PACIASP,
				   SUB_SP(32),
				   B(-3)};

	ANALYSE(code);
	assert_rule(2, REGISTER_SP, 16, 2, 1);
	for (u32 at = 4; at < 8; at++)
		assert_false(has_rule(at));
}

TEST(a_register_x30_that_a_function_uses_itself_may_be_stored, NULL, end)
{
	static const u32 code[] = {STP_BEFORE(FP, LINK, 32),
				   BLR(1),
				   MOV(LINK, 1),
				   STP(19, LINK, 16),
				   LDP(19, LINK, 16),
				   LDP_AFTER(FP, LINK, 32),
				   RET};

	ANALYSE(code);
	assert_rule(5, REGISTER_SP, 32, 4, 3);
	assert_rule(6, REGISTER_SP, 0, 0, 0);
}

TEST(a_run_of_one_rule_ends_where_the_rule_changes, NULL, end)
{
	static const u32 code[] = {OTHER, OTHER, SUB_SP(16), ADD_SP(16), RET};
	u32 at = BASE, end;

	ANALYSE(code);
	assert_true(arm64_analysis_next_rule(analysis, &at, BASE + 20, &rule, &end));
	assert_int_equal(at, BASE);
	assert_int_equal(end, BASE + 12);
}
