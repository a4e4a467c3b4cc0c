/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts a row of call frame information to the compact rule. A row whose CFA or
 * return address does not fit has no rule. A callee-saved register that does not fit into the rule
 * is lost. A lost register ends the walk only if an outer frame needs it.
 */
#include "unwind.h"

/* a direct walk has a window of this many stack words below the base of the rule */
#define RULE_NEAR_WORDS 60

CORE_PART u32 evaluate_expression_of_cell(struct unwind *unwind, const struct cfi_cell *cell)
{
	return expr_evaluate(unwind, unwind->cfi.entry.cie + cell->offset, cell->length);
}

/* Sets the CFA from an evaluated expression. */
CORE_PART u32 set_cfa_from_term(const struct expr_term *term, struct unwind_rule *rule)
{
	rule->cfa_register = term->reg;
	rule->cfa_offset = term->offset;
	if (term->offset != rule->cfa_offset)
		return STOP_UNSUPPORTED;
	switch (term->kind) {
	case EXPR_REGISTER:
		rule->cfa_kind = CFA_REGISTER;
		return STOP_NONE;
	case EXPR_PLT:
		rule->cfa_kind = CFA_PLT;
		rule->operand = term->addend;
		return term->addend == rule->operand ? STOP_NONE : STOP_UNSUPPORTED;
	case EXPR_DEREF_INDEX:
		rule->base = term->index;
		/* fallthrough */
	case EXPR_DEREF:
		rule->cfa_kind = term->kind == EXPR_DEREF ? CFA_DEREF : CFA_DEREF_INDEX;
		rule->operand = (u32)term->addend / SLOT_WORD;
		return term->addend >= 0 && (u64)term->addend % SLOT_WORD == 0 &&
				       (u64)term->addend / SLOT_WORD <= 0xff
			       ? STOP_NONE
			       : STOP_UNSUPPORTED;
	}
	return STOP_UNSUPPORTED;
}

CORE_PART u32 set_cfa_of_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	const struct cfi_cell *cfa = &unwind->cfi.row.cfa;
	struct expr_term term;
	u32 stop;

	rule->cfa_register = cfa->reg;
	rule->cfa_offset = cfa->offset;
	if (cfa->how == CFI_OFFSET)
		return STOP_NONE;
	if (cfa->how != CFI_EXPRESSION)
		return STOP_BAD_TABLE;
	stop = evaluate_expression_of_cell(unwind, cfa);
	if (stop)
		return stop;
	term = unwind->expr.stack[0];
	return set_cfa_from_term(&term, rule);
}

/*
 * Returns the slot of a register that is saved at the address that a DWARF expression gives: an
 * offset from another register. This other register must be the same for all slots of the rule.
 */
CORE_PART u8 slot_from_expression(struct unwind *unwind, const struct cfi_cell *cell,
				  struct unwind_rule *rule)
{
	struct expr_term term;

	if (RETURN_IS_BELOW_BASE || evaluate_expression_of_cell(unwind, cell) ||
	    rule->cfa_kind == CFA_DEREF_INDEX)
		return SLOT_LOST;
	term = unwind->expr.stack[0];
	if (term.kind != EXPR_REGISTER || (rule->base != RULE_BASE_CFA && rule->base != term.reg))
		return SLOT_LOST;
	rule->base = term.reg;
	return slot_of_word_below_base((u64)term.offset - RULE_BASE_BYTES);
}

CORE_PART u8 slot_from_cell(struct unwind *unwind, const struct cfi_cell *cell,
			    struct unwind_rule *rule)
{
	switch (cell->how) {
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		return 0;
	case CFI_OFFSET:
		if (rule->base != RULE_BASE_CFA && rule->cfa_kind != CFA_DEREF_INDEX)
			return SLOT_LOST;
		return slot_of_word_below_base(cell->offset);
	case CFI_IN_REGISTER:
		return is_table_register(cell->reg) ? SLOT_IN_REGISTER + cell->reg : SLOT_LOST;
	case CFI_EXPRESSION:
		return slot_from_expression(unwind, cell, rule);
	}
	return SLOT_LOST;
}

struct slot_walk {
	struct unwind *unwind;
	struct unwind_rule *rule;
	bool by_expression; /* 1: fill slots that an expression gives, 0: fill the other slots */
};

static long set_rule_slot_of_register(u32 i, void *arg)
{
	struct slot_walk *walk = arg;
	const struct cfi_cell *cell;

	core_one_register(i);
	if (i >= SLOT_RETURN)
		return 1;
	cell = &walk->unwind->cfi.row.column[COLUMN_SAVED + i];
	if ((cell->how == CFI_EXPRESSION) == walk->by_expression)
		walk->rule->slot[i] = slot_from_cell(walk->unwind, cell, walk->rule);
	return 0;
}

CORE_PART void set_rule_slots_of_registers(struct unwind *unwind, struct unwind_rule *rule)
{
	struct slot_walk walk = {.unwind = unwind, .rule = rule, .by_expression = true};

	core_rare_loop(SLOT_RETURN, set_rule_slot_of_register, &walk);
	walk.by_expression = false;
	core_rare_loop(SLOT_RETURN, set_rule_slot_of_register, &walk);
}

CORE_PART u32 set_return_address_slot_of_rule(const struct cfi_cell *cell, struct unwind_rule *rule)
{
	u8 slot = SLOT_LOST;

	if (cell->how == CFI_UNDEFINED) {
		rule->flags |= RULE_OUTERMOST;
		return STOP_NONE;
	}
	if (cell->how == CFI_OFFSET)
		slot = slot_of_word_below_base(cell->offset);
	else if (cell->how == CFI_IN_REGISTER && is_table_register(cell->reg))
		slot = SLOT_IN_REGISTER + cell->reg;
	else if (RETURN_MAY_BE_IN_REGISTER &&
		 (cell->how == CFI_UNSPECIFIED || cell->how == CFI_SAME))
		slot = 0;
	rule->slot[SLOT_RETURN] = slot;
	return slot == SLOT_LOST && !RETURN_IS_BELOW_BASE ? STOP_UNSUPPORTED : STOP_NONE;
}

/*
 * Makes the CFA's register the base of the slots if the saved registers are nearer to that register
 * than to the CFA.
 */
CORE_PART u32 choose_slot_base(const struct cfi_row *row, struct unwind_rule *rule)
{
	const struct cfi_cell *link = &row->column[COLUMN_RETURN];
	const struct cfi_cell *fp = &row->column[COLUMN_SAVED + SLOT_FP];
	u8 link_slot = rule->slot[SLOT_RETURN], fp_slot = rule->slot[SLOT_FP];
	s64 above = (s64)rule->cfa_offset - RULE_BASE_BYTES;

	if (rule->cfa_kind == CFA_REGISTER && link->how == CFI_OFFSET &&
	    (link_slot > RULE_NEAR_WORDS || (fp->how == CFI_OFFSET && fp_slot > RULE_NEAR_WORDS))) {
		link_slot = slot_of_word_below_base(above + link->offset);
		if (fp->how == CFI_OFFSET)
			fp_slot = slot_of_word_below_base(above + fp->offset);
		if (link_slot != SLOT_LOST) {
			rule->base = rule->cfa_register;
			rule->slot[SLOT_RETURN] = link_slot;
			rule->slot[SLOT_FP] = fp_slot;
			/* glibc's table of _dl_runtime_resolve has the CFA below the two words that
			 * the stub of a library has pushed, the upper one of them x30. */
			if (link->offset == SLOT_WORD)
				rule->cfa_offset += 2 * SLOT_WORD;
		}
	}
	return rule->slot[SLOT_RETURN] == SLOT_LOST ? STOP_UNSUPPORTED : STOP_NONE;
}

/* Sets the caller's stack pointer, which is the CFA or is in a register. */
CORE_PART u32 set_caller_sp_of_rule(const struct cfi_cell *cell, struct unwind_rule *rule)
{
	if (cell->how == CFI_UNSPECIFIED || (cell->how == CFI_VALUE_OFFSET && !cell->offset))
		return STOP_NONE;
	if (cell->how != CFI_IN_REGISTER || rule->cfa_kind != CFA_REGISTER ||
	    !is_table_register(cell->reg))
		return STOP_UNSUPPORTED;
	rule->flags |= RULE_STACK_MOVED;
	rule->operand = cell->reg;
	return STOP_NONE;
}

/*
 * The rule of a signal trampoline, whose call frame information describes each register by an
 * expression into the ucontext. If the expressions of stack pointer and return address are the
 * kernel's, the other registers are taken to be at the kernel's offsets, too.
 */
CORE_PART u32 make_trampoline_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	struct expr_term rsp, rip;
	u32 stop = evaluate_expression_of_cell(unwind, &unwind->cfi.row.column[COLUMN_RETURN]);

	if (stop)
		return stop;
	rip = unwind->expr.stack[0];
	stop = evaluate_expression_of_cell(unwind, &unwind->cfi.row.column[COLUMN_SP]);
	if (stop)
		return stop;
	rsp = unwind->expr.stack[0];
	if (rip.kind != EXPR_REGISTER || rsp.kind != EXPR_REGISTER || rip.reg != rsp.reg ||
	    rip.offset - UCONTEXT_PC != rsp.offset - UCONTEXT_SP)
		return STOP_UNSUPPORTED;
	rule->cfa_kind = CFA_SIGNAL;
	rule->cfa_register = rip.reg;
	rule->cfa_offset = rip.offset - UCONTEXT_PC;
	return STOP_NONE;
}

CORE_SUBPROGRAM u32 cfi_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	const struct cfi_row *row = &unwind->cfi.row;
	u32 stop;

	*rule = (struct unwind_rule){.base = RULE_BASE_CFA};
	if (unwind->cfi.entry.is_signal)
		rule->flags = RULE_SIGNAL;
	if (row->column[COLUMN_RETURN].how == CFI_EXPRESSION &&
	    row->column[COLUMN_SP].how == CFI_EXPRESSION)
		return make_trampoline_rule(unwind, rule);
	stop = set_return_address_slot_of_rule(&row->column[COLUMN_RETURN], rule);
	if (stop || rule->flags & RULE_OUTERMOST)
		return stop;
	stop = set_cfa_of_rule(unwind, rule);
	if (!stop)
		stop = set_caller_sp_of_rule(&row->column[COLUMN_SP], rule);
	if (!stop)
		set_rule_slots_of_registers(unwind, rule);
	if (RETURN_IS_BELOW_BASE && !stop)
		stop = choose_slot_base(row, rule);
	return stop;
}
