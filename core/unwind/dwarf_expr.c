/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbolic execution of the DWARF stack machine (DWARF 5, section 2.5). The machine's stack holds
 * terms over the registers in place of numbers, and an operation maps terms to terms. An expression
 * is thus read once, when its rule is made, and costs no time at a step. Compilers, linkers and
 * assembler sources write few forms: register + offset, one or two loads, "8 more after the push"
 * of the PLT, an index register. The result of any other form is EXPR_INVALID, never a wrong value.
 */
#include "unwind.h"

enum dwarf_operation {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

#define OP_COUNT_OF_LITERALS 32
#define PLT_ENTRY_MASK 15
#define WORD_SHIFT 3

CORE_PART struct expr_term make_constant_term(s64 value)
{
	return (struct expr_term){.kind = EXPR_CONSTANT, .offset = value};
}

CORE_PART struct expr_term make_register_term(u64 reg, s64 offset)
{
	return (struct expr_term){
		.kind = is_table_register(reg) || reg == RETURN_COLUMN ? EXPR_REGISTER
								       : EXPR_INVALID,
		.reg = reg,
		.offset = offset,
	};
}

CORE_PART bool term_is_constant(const struct expr_term *term, s64 value)
{
	return term->kind == EXPR_CONSTANT && term->offset == value;
}

CORE_PART bool term_is_register(const struct expr_term *term)
{
	return term->kind == EXPR_REGISTER && term->offset == 0;
}

CORE_PART void term_push(struct expr *expr, const struct expr_term *term)
{
	expr->stack[expr->depth & (EXPR_STACK - 1)] = *term;
	expr->depth++;
	if (expr->depth > EXPR_STACK || term->kind == EXPR_INVALID)
		expr->stop = STOP_UNSUPPORTED;
}

CORE_PART struct expr_term term_pop(struct expr *expr)
{
	if (expr->depth == 0)
		return (struct expr_term){.kind = EXPR_INVALID};
	expr->depth--;
	return expr->stack[expr->depth & (EXPR_STACK - 1)];
}

CORE_PART struct expr_term term_add_constant(struct expr_term term, s64 value)
{
	switch (term.kind) {
	case EXPR_CONSTANT:
	case EXPR_REGISTER:
	case EXPR_REGISTER_INDEX:
	case EXPR_PLT:
		term.offset = (u64)term.offset + value;
		break;
	case EXPR_DEREF:
	case EXPR_DEREF_INDEX:
		value = (u64)term.addend + value;
		term.addend = value;
		if (value != term.addend)
			term.kind = EXPR_INVALID;
		break;
	default:
		term.kind = EXPR_INVALID;
	}
	return term;
}

CORE_PART struct expr_term term_add(struct expr_term a, struct expr_term b)
{
	if (a.kind == EXPR_CONSTANT) {
		s64 constant = a.offset;

		a = b;
		b = make_constant_term(constant);
	}
	if (b.kind == EXPR_CONSTANT)
		return term_add_constant(a, b.offset);
	if (a.kind == EXPR_REGISTER && b.kind == EXPR_INDEX) {
		a.kind = EXPR_REGISTER_INDEX;
		a.index = b.index;
	} else if (a.kind == EXPR_REGISTER && b.kind == EXPR_IP_LATE_WORD) {
		a.kind = EXPR_PLT;
		a.addend = b.addend;
	} else {
		a.kind = EXPR_INVALID;
	}
	return a;
}

CORE_PART struct expr_term term_and(struct expr_term a, struct expr_term b)
{
	a.kind =
		term_is_register(&a) && a.reg == REGISTER_PC && term_is_constant(&b, PLT_ENTRY_MASK)
			? EXPR_IP_LOW
			: EXPR_INVALID;
	return a;
}

CORE_PART struct expr_term term_greater_or_equal(struct expr_term a, struct expr_term b)
{
	a.kind = a.kind == EXPR_IP_LOW && b.kind == EXPR_CONSTANT ? EXPR_IP_LATE : EXPR_INVALID;
	a.addend = b.offset;
	return a;
}

CORE_PART struct expr_term term_times_8(struct expr_term term)
{
	if (term.kind == EXPR_IP_LATE) {
		term.kind = EXPR_IP_LATE_WORD;
	} else if (term_is_register(&term)) {
		term.kind = EXPR_INDEX;
		term.index = term.reg;
	} else {
		term.kind = EXPR_INVALID;
	}
	return term;
}

CORE_PART struct expr_term term_dereference(struct expr_term term)
{
	if (term.kind == EXPR_REGISTER)
		term.kind = EXPR_DEREF;
	else if (term.kind == EXPR_REGISTER_INDEX)
		term.kind = EXPR_DEREF_INDEX;
	else
		term.kind = EXPR_INVALID;
	return term;
}

/* Returns the operand of a DW_OP_const operation, and sets *bytes to its length. */
CORE_PART s64 constant_operand(const struct cfi_operands *operands, u32 operation, u64 *bytes)
{
	u32 size = 1 << ((operation - OP_CONST1U) >> 1 & 3), unused = 64 - 8 * size;

	*bytes = operation < OP_CONSTU ? size : operands->first.bytes;
	if (operation == OP_CONSTU)
		return operands->first.value;
	if (operation == OP_CONSTS)
		return operands->first.signed_value;
	if ((operation - OP_CONST1U) & 1)
		return (s64)(operands->raw << unused) >> unused;
	return operands->raw << unused >> unused;
}

/*
 * Applies an operation to the two uppermost terms, or to the uppermost term and the number that
 * follows the operation. A difference is a sum with a negative constant; any other difference is
 * invalid.
 */
CORE_PART struct expr_term apply_binary_operation(struct expr *expr,
						  const struct cfi_operands *operands,
						  u32 operation, u64 *bytes)
{
	struct expr_term a, b;

	if (operation == OP_PLUS_UCONST) {
		b = make_constant_term(operands->first.value);
		*bytes = operands->first.bytes;
	} else {
		b = term_pop(expr);
	}
	a = term_pop(expr);
	if (operation == OP_MINUS) {
		b.kind = b.kind == EXPR_CONSTANT ? EXPR_CONSTANT : EXPR_INVALID;
		b.offset = -(u64)b.offset;
	}
	switch (operation) {
	case OP_MINUS:
	case OP_PLUS:
	case OP_PLUS_UCONST:
		return term_add(a, b);
	case OP_AND:
		return term_and(a, b);
	case OP_GE:
		return term_greater_or_equal(a, b);
	case OP_SHL:
	case OP_MUL:
		if (term_is_constant(&b, operation == OP_SHL ? WORD_SHIFT : 1 << WORD_SHIFT))
			return term_times_8(a);
	}
	return (struct expr_term){.kind = EXPR_INVALID};
}

/*
 * Applies an operation to the terms on the stack, and returns the resulting term. Sets *bytes,
 * which is 0 before, to the length of the operation's operands.
 */
CORE_PART struct expr_term apply_operation(struct expr *expr, const struct cfi_operands *operands,
					   u32 operation, u64 *bytes)
{
	const struct leb128 *first = &operands->first, *second = &operands->second;

	if (operation - OP_LIT0 < OP_COUNT_OF_LITERALS)
		return make_constant_term(operation - OP_LIT0);
	if (operation - OP_BREG0 < OP_COUNT_OF_LITERALS) {
		*bytes = first->bytes;
		return make_register_term(operation - OP_BREG0, first->signed_value);
	}
	if (operation == OP_BREGX) {
		*bytes = first->bytes + second->bytes;
		return make_register_term(first->value, second->signed_value);
	}
	if (operation >= OP_CONST1U && operation <= OP_CONSTS)
		return make_constant_term(constant_operand(operands, operation, bytes));
	if (operation == OP_DEREF)
		return term_dereference(term_pop(expr));
	return apply_binary_operation(expr, operands, operation, bytes);
}

/* Runs a DWARF operation, whose operands are at the position. */
CORE_GLOBAL_PART int run_operation(struct unwind *unwind, u32 operation)
{
	struct expr_term term;
	u64 bytes = 0;

	if (core_is_null(unwind) || operation == OP_NOP)
		return 0;
	term = apply_operation(&unwind->expr, &unwind->cfi.operands, operation, &bytes);
	unwind->bytes.at += bytes;
	term_push(&unwind->expr, &term);
	return 0;
}

static long run_operation_step(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct expr *expr = &unwind->expr;
	u32 operation;

	(void)i;
	if (expr->stop || unwind->bytes.at == unwind->bytes.end)
		return 1;
	expr->stop = unwind_spend_budget(unwind) ? bytes_make_ready(unwind) : STOP_BUDGET;
	if (expr->stop)
		return 1;
	operation = bytes_take_u8(&unwind->bytes);
	cfi_read_operands(unwind);
	run_operation(unwind, operation);
	return 0;
}

CORE_INLINE u32 expr_evaluate(struct unwind *unwind, u64 at, u32 length)
{
	struct expr *expr = &unwind->expr;

	expr->depth = 0;
	expr->stop = STOP_NONE;
	bytes_set_range(&unwind->bytes, at, at + length);
	core_rare_loop(EXPR_OPERATIONS_MAX, run_operation_step, &unwind);
	if (expr->stop)
		return expr->stop;
	if (bytes_are_beyond_end(&unwind->bytes))
		return STOP_BAD_TABLE;
	return unwind->bytes.at == unwind->bytes.end && expr->depth == 1 ? STOP_NONE
									 : STOP_UNSUPPORTED;
}
