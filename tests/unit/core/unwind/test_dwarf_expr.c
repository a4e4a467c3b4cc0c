/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Expressions as toolchains write them. */
#include "unwind_memory.h"

#include <string.h>

#include "unit_test.h"

static struct unwind unwind;
static const struct expr_term *const term = &unwind.expr.stack[0];

static u32 evaluate(const u8 *bytes, u32 count)
{
	memory_set(&unwind, bytes, count);
	return expr_evaluate(&unwind, MEMORY_BASE, count);
}

#define expression(...)                                                                            \
	({                                                                                         \
		static const u8 bytes[] = {__VA_ARGS__};                                           \
		evaluate(bytes, sizeof(bytes));                                                    \
	})

static void assert_term(u32 kind, u32 reg, s64 offset, s32 addend)
{
	assert_int_equal(term->kind, kind);
	assert_int_equal(term->reg, reg);
	assert_int_equal(term->offset, offset);
	assert_int_equal(term->addend, addend);
}

/* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
TEST(linkers_write_the_plt)
{
	assert_int_equal(expression(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
			 STOP_NONE);
	assert_term(EXPR_PLT, REGISTER_RSP, 8, 11);
}

TEST(compilers_write_realigned_stacks)
{
	assert_int_equal(expression(0x76, 0x78, 0x06), STOP_NONE);
	assert_term(EXPR_DEREF, REGISTER_RBP, -8, 0);
	assert_int_equal(expression(0x76, 0x50), STOP_NONE);
	assert_term(EXPR_REGISTER, REGISTER_RBP, -48, 0);
}

TEST(cryptography_writes_saved_stack_pointers)
{
	/* breg7 152; deref; plus_uconst 8 */
	assert_int_equal(expression(0x77, 0x98, 1, 0x06, 0x23, 8), STOP_NONE);
	assert_term(EXPR_DEREF, REGISTER_RSP, 152, 8);
	/* breg7 8; breg9 0; lit8; mul; plus; deref; plus_uconst 8 */
	assert_int_equal(expression(0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8), STOP_NONE);
	assert_term(EXPR_DEREF_INDEX, REGISTER_RSP, 8, 8);
	assert_int_equal(term->index, REGISTER_R9);
}

TEST(constants_of_every_size)
{
	assert_int_equal(expression(0x77, 0, 0x08, 200, 0x22, 0x09, 0xff, 0x22), STOP_NONE);
	assert_term(EXPR_REGISTER, REGISTER_RSP, 199, 0);
	assert_int_equal(expression(0x77, 0, 0x0a, 0, 1, 0x22, 0x0b, 0xff, 0xff, 0x22), STOP_NONE);
	assert_term(EXPR_REGISTER, REGISTER_RSP, 255, 0);
	assert_int_equal(expression(0x0c, 1, 0, 0, 0, 0x0d, 0xfe, 0xff, 0xff, 0xff, 0x22),
			 STOP_NONE);
	assert_term(EXPR_CONSTANT, 0, -1, 0);
	assert_int_equal(expression(0x0e, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x80, 1, 0x22), STOP_NONE);
	assert_term(EXPR_CONSTANT, 0, 129, 0);
	assert_int_equal(expression(0x92, 6, 8, 0x11, 0x7f, 0x1c, 0x96), STOP_NONE);
	assert_term(EXPR_REGISTER, REGISTER_RBP, 9, 0);
}

TEST(unsupported_expressions_are_refused)
{
	assert_int_equal(expression(0x77, 0, 0x76, 0, 0x22), STOP_UNSUPPORTED);
	assert_int_equal(expression(0x77, 0, 0x06, 0x06), STOP_UNSUPPORTED);
	assert_int_equal(expression(0x22), STOP_UNSUPPORTED);
	assert_int_equal(expression(0x31, 0x32), STOP_UNSUPPORTED);
	assert_int_equal(expression(0x92, 20, 0), STOP_UNSUPPORTED);
	assert_int_equal(expression(0x9c), STOP_UNSUPPORTED);
	assert_int_equal(expression(0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38),
			 STOP_UNSUPPORTED);
}

TEST(a_cut_operand_is_malformed)
{
	assert_int_equal(expression(0x77, 0x80), STOP_BAD_TABLE);
	assert_int_equal(expression(0x0e, 1, 2), STOP_BAD_TABLE);
}
