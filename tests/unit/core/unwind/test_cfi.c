/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Call frame instructions to rows, and rows to rules. The first byte of the memory is the first
 * instruction, and also the address of the CIE. */
#include "unwind_memory.h"

#include <string.h>

#include "unit_test.h"

#define PC 100 /* the row that is asked for; instructions advance from 0 */

static struct unwind unwind;
static const struct unwind_rule *const rule = &unwind.rule;

static u32 run_rule(const u8 *bytes, u32 count)
{
	struct cfi *cfi = &unwind.cfi;
	u32 stop;

	memory_set(&unwind, bytes, count);
	cfi->entry.cie = MEMORY_BASE;
	cfi->entry.code_alignment = 1;
	cfi->entry.data_alignment = -8;
	cfi->entry.row.cfa = (struct cfi_cell){.how = CFI_OFFSET, .reg = REGISTER_RSP, .offset = 8};
	cfi->entry.row.column[COLUMN_RETURN] = (struct cfi_cell){.how = CFI_OFFSET, .offset = -8};
	cfi->row = cfi->entry.row;
	cfi->pc = PC;
	cfi->next = 1000;
	stop = cfi_run_instructions(&unwind, MEMORY_BASE, MEMORY_BASE + count);
	return stop ? stop : cfi_rule(&unwind, &unwind.rule);
}

#define rule_of(...)                                                                               \
	({                                                                                         \
		static const u8 bytes[] = {__VA_ARGS__};                                           \
		run_rule(bytes, sizeof(bytes));                                                    \
	})

static void assert_cfa(u32 kind, u32 reg, s32 offset)
{
	assert_int_equal(rule->cfa_kind, kind);
	assert_int_equal(rule->cfa_register, reg);
	assert_int_equal(rule->cfa_offset, offset);
}

static void assert_row(u64 from, u64 to)
{
	assert_int_equal(unwind.cfi.location, from);
	assert_int_equal(unwind.cfi.next, to);
}

TEST(rows_hold_until_the_next_location)
{
	/* advance 60, offset 16; advance1 40, offset 24; advance 1, offset 32 */
	assert_int_equal(rule_of(0x7c, 0x0e, 16, 0x02, 40, 0x0e, 24, 0x41, 0x0e, 32), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RSP, 24);
	assert_row(100, 101);
	/* advance2, advance4 beyond the pc */
	assert_int_equal(rule_of(0x03, 101, 0, 0x0e, 16), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RSP, 8);
	assert_row(0, 101);
	assert_int_equal(rule_of(0x04, 100, 0, 0, 0, 0x0e, 16), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RSP, 16);
	assert_row(100, 1000);
	/* a row beyond the function's end */
	assert_int_equal(rule_of(0x04, 0, 0, 1, 0, 0x0e, 16), STOP_NONE);
	assert_row(0, 1000);
}

TEST(every_way_to_define_the_cfa)
{
	assert_int_equal(rule_of(0x0c, 6, 0x90, 1), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RBP, 144);
	assert_int_equal(rule_of(0x0d, 3), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RBX, 8);
	assert_int_equal(rule_of(0x12, 10, 0x7e), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_R10, 16);
	assert_int_equal(rule_of(0x13, 0x7c), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RSP, 32);
	assert_int_equal(rule_of(0x0f, 3, 0x76, 0x78, 0x06), STOP_NONE);
	assert_cfa(CFA_DEREF, REGISTER_RBP, -8);
	assert_int_equal(rule_of(0x0f, 6, 0x77, 40, 0x06, 0x23, 8, 0x96), STOP_NONE);
	assert_cfa(CFA_DEREF, REGISTER_RSP, 40);
	assert_int_equal(rule->operand, 1);
}

TEST(every_way_to_save_a_register)
{
	assert_int_equal(rule_of(0x83, 2, 0x05, 6, 3, 0x11, 12, 4, 0x2f, 13, 0x78), STOP_NONE);
	assert_int_equal(rule->slot[SLOT_RBX], 2);
	assert_int_equal(rule->slot[SLOT_RBP], 3);
	assert_int_equal(rule->slot[SLOT_R12], 4);
	assert_int_equal(rule->slot[SLOT_R13], SLOT_LOST);
	assert_int_equal(rule->slot[SLOT_R14], 0);
	assert_int_equal(rule->slot[SLOT_RETURN], 1);
	/* in a register; same value; undefined; value offset; value expression */
	assert_int_equal(
		rule_of(0x09, 3, 8, 0x86, 2, 0x08, 6, 0x07, 12, 0x14, 13, 1, 0x16, 14, 1, 0x50),
		STOP_NONE);
	assert_int_equal(rule->slot[SLOT_RBX], SLOT_IN_REGISTER + REGISTER_R8);
	assert_int_equal(rule->slot[SLOT_RBP], 0);
	assert_int_equal(rule->slot[SLOT_R12], SLOT_LOST);
	assert_int_equal(rule->slot[SLOT_R13], SLOT_LOST);
	assert_int_equal(rule->slot[SLOT_R14], SLOT_LOST);
}

TEST(realigned_frames_save_below_a_register)
{
	/* CFA *(rbp-8); rbp at rbp+0, r15 at rbp-16, rbx at rbp-24; r12 below the CFA cannot be
	 * said */
	assert_int_equal(rule_of(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x10, 15, 2, 0x76,
				 0x70, 0x10, 3, 2, 0x76, 0x68, 0x8c, 2),
			 STOP_NONE);
	assert_cfa(CFA_DEREF, REGISTER_RBP, -8);
	assert_int_equal(rule->base, REGISTER_RBP);
	assert_int_equal(rule->slot[SLOT_RBP], 1);
	assert_int_equal(rule->slot[SLOT_R15], 3);
	assert_int_equal(rule->slot[SLOT_RBX], 4);
	assert_int_equal(rule->slot[SLOT_R12], SLOT_LOST);
	assert_int_equal(rule->slot[SLOT_RETURN], 1);
}

TEST(states_are_remembered)
{
	/* offset 16, rbx; remember; restore rbx, offset 8; remember; offset 64; restore; restore */
	assert_int_equal(
		rule_of(0x0e, 16, 0x83, 2, 0x0a, 0xc3, 0x0e, 8, 0x0a, 0x0e, 64, 0x0b, 0x0b),
		STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RSP, 16);
	assert_int_equal(rule->slot[SLOT_RBX], 2);
	assert_int_equal(rule_of(0x83, 2, 0x06, 3), STOP_NONE);
	assert_int_equal(rule->slot[SLOT_RBX], 0);
	/* undefined rip, then restored to the rule of the CIE */
	assert_int_equal(rule_of(0x07, 16, 0xd0), STOP_NONE);
	assert_int_equal(rule->slot[SLOT_RETURN], 1);
	assert_int_equal(rule->flags, 0);
	assert_int_equal(rule_of(0x07, 16, 0x06, 16), STOP_NONE);
	assert_int_equal(rule->slot[SLOT_RETURN], 1);
	assert_int_equal(rule_of(0x0b), STOP_BAD_TABLE);
	assert_int_equal(rule_of(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a),
			 STOP_UNSUPPORTED);
}

TEST(the_outermost_frame_has_no_return_address)
{
	assert_int_equal(rule_of(0x07, 16), STOP_NONE);
	assert_int_equal(rule->flags, RULE_OUTERMOST);
}

TEST(frames_that_have_left_their_stack)
{
	/* rsp in r8, rip in rdx, as in longjmp */
	assert_int_equal(rule_of(0x0c, 5, 0, 0x09, 7, 8, 0x09, 16, 1), STOP_NONE);
	assert_int_equal(rule->flags, RULE_STACK_MOVED);
	assert_int_equal(rule->operand, REGISTER_R8);
	assert_int_equal(rule->slot[SLOT_RETURN], SLOT_IN_REGISTER + REGISTER_RDX);
}

TEST(signal_trampolines_point_into_the_ucontext)
{
	assert_int_equal(rule_of(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 7, 3, 0x77, 0xa0, 1, 0x10, 16,
				 3, 0x77, 0xa8, 1),
			 STOP_NONE);
	assert_cfa(CFA_SIGNAL, REGISTER_RSP, 0);
	assert_int_equal(rule_of(0x10, 7, 3, 0x77, 0xa0, 1, 0x10, 16, 3, 0x77, 0xb0, 1),
			 STOP_UNSUPPORTED);
}

TEST(sizes_of_arguments_do_not_matter)
{
	assert_int_equal(rule_of(0x2e, 0x90, 1, 0x00, 0x00, 0x0e, 48), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RSP, 48);
}

TEST(malformed_programs)
{
	assert_int_equal(rule_of(0x0e), STOP_BAD_TABLE);
	assert_int_equal(rule_of(0x0c, 7), STOP_BAD_TABLE);
	assert_int_equal(rule_of(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0, 0),
			 STOP_BAD_TABLE);
	assert_int_equal(rule_of(0x0f, 100, 0x76), STOP_BAD_TABLE);
	assert_int_equal(rule_of(0x1f), STOP_UNSUPPORTED);
	assert_int_equal(rule_of(0x0c, 16, 8), STOP_UNSUPPORTED);
}

/* Programs as long as those of a function with a hundred thousand instructions. */
TEST(long_programs)
{
	static u8 bytes[100002];

	bytes[100000] = 0x0e;
	bytes[100001] = 72;
	assert_int_equal(run_rule(bytes, sizeof(bytes)), STOP_NONE);
	assert_cfa(CFA_REGISTER, REGISTER_RSP, 72);
	unwind.budget = 1000;
	unwind.cfi.location = 0;
	assert_int_equal(cfi_run_instructions(&unwind, MEMORY_BASE, MEMORY_BASE + sizeof(bytes)),
			 STOP_BUDGET);
	assert_int_equal(unwind.budget, 0);
}
