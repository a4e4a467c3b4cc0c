/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The meaning of a DWARF expression in an unwind table, as a term that a rule can express. */
#ifndef CORE_DWARF_EXPR_H
#define CORE_DWARF_EXPR_H

#include "env.h"

#define EXPR_STACK 8 /* a power of two */
#define EXPR_OPERATIONS_MAX 64

struct unwind;

enum expr_kind {
	EXPR_CONSTANT,	     /* offset */
	EXPR_REGISTER,	     /* reg + offset */
	EXPR_INDEX,	     /* 8 * index */
	EXPR_REGISTER_INDEX, /* reg + offset + 8 * index */
	EXPR_DEREF,	     /* *(reg + offset) + addend */
	EXPR_DEREF_INDEX,    /* *(reg + offset + 8 * index) + addend */
	EXPR_IP_LOW,	     /* rip & 15 */
	EXPR_IP_LATE,	     /* (rip & 15) >= addend */
	EXPR_IP_LATE_WORD,   /* 8 * ((rip & 15) >= addend) */
	EXPR_PLT,	     /* reg + offset + 8 * ((rip & 15) >= addend) */
	EXPR_INVALID,
};

struct expr_term {
	u8 kind; /* enum expr_kind */
	u8 reg;
	u8 index;
	u8 reserved;
	s32 addend;
	s64 offset;
};

struct expr {
	u32 depth;
	u32 stop; /* enum stop_reason */
	struct expr_term stack[EXPR_STACK];
};

/*
 * Evaluates `length` bytes of operations at an address; the result is unwind->expr.stack[0].
 * STOP_UNSUPPORTED: no term expresses the result. The operations' stack begins empty.
 * (DW_CFA_expression would begin with the CFA on the stack, which no term expresses: expressions
 * that use it underflow and are unsupported.)
 */
CORE_INLINE u32 expr_evaluate(struct unwind *unwind, u64 at, u32 length);

#endif
