/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame information: the row of the table that covers a pc (DWARF 5, section 6.4). Running the
 * instructions of CIE and FDE up to the pc makes the row.
 */
#ifndef CORE_CFI_H
#define CORE_CFI_H

#include <stdbool.h>

#include "arch/unwinding.h"
#include "env.h"
#include "rule.h"
#include "unwind_bytes.h"

#define CFI_COLUMNS 16 /* a power of two; enum cfi_column */
#define CFI_REMEMBERED_MAX 8
#define CFI_INSTRUCTIONS_MAX (1U << 20) /* cc1plus has functions with over 8192 instructions */

struct unwind;

enum cfi_how {
	CFI_UNSPECIFIED, /* default of the ABI: a callee-saved register is untouched */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,	  /* saved at CFA + offset; the CFA itself: register + offset */
	CFI_VALUE_OFFSET, /* the value is CFA + offset */
	CFI_IN_REGISTER,  /* the value is in register `reg` */
	/* saved where `length` bytes at the CIE + offset say; the CFA: the result */
	CFI_EXPRESSION,
	CFI_VALUE_EXPRESSION /* the value is the result of such an expression */
};

struct cfi_cell {
	u8 how; /* enum cfi_how */
	u8 reg;
	u16 length;
	s32 offset;
};

struct cfi_row {
	struct cfi_cell cfa;
	struct cfi_cell column[CFI_COLUMNS];
};

/* The contents of a CIE, which hold for all of its FDEs. */
struct cfi_entry {
	u64 cie; /* address; 0: no CIE was read */
	u64 code_alignment;
	u64 data_alignment; /* two's complement */
	u32 pointer_encoding;
	bool augmented;	    /* the FDEs have augmentation data */
	bool is_signal;	    /* its frames were interrupted by signals */
	u64 start, end;	    /* range of its instructions */
	struct cfi_row row; /* row after these instructions */
};

/* Both operands, decoded before the instruction is looked at. */
struct cfi_operands {
	u64 position; /* address of the first operand */
	u64 raw;
	struct leb128 first, second;
};

struct cfi {
	struct cfi_entry entry;
	u64 location; /* first address of the row */
	u64 next;     /* end of the row; at first the end of the function */
	u64 pc;
	u32 stop;
	bool found; /* the row of pc is complete */
	u32 remembered_count;
	struct cfi_operands operands;
	struct cfi_row row;
	struct cfi_row remembered[CFI_REMEMBERED_MAX];
};

/*
 * Runs the instructions at [start, end), beginning with the row of unwind->cfi.location, until the
 * row is that of cfi.pc. At most CFI_INSTRUCTIONS_MAX instructions. Returns an enum stop_reason.
 */
CORE_INLINE u32 cfi_run(struct unwind *unwind, u64 start, u64 end);

/*
 * Runs on after cfi_run() or cfi_run_on(): makes the next row, in a function that ends at `end`.
 * The caller must leave the position alone in between.
 */
CORE_INLINE u32 cfi_run_on(struct unwind *unwind, u64 end);

/* Converts the row to a rule. STOP_UNSUPPORTED: a rule cannot express the row. */
CORE_SUBPROGRAM u32 cfi_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
