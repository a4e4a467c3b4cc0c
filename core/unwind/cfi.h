/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame information: the row of the table that covers a pc (DWARF 5, section 6.4), made by
 * running the instructions of CIE and FDE up to it.
 */
#ifndef CORE_CFI_H
#define CORE_CFI_H

#include <stdbool.h>

#include "env.h"
#include "rule.h"
#include "unwind_bytes.h"

#define CFI_COLUMNS 16 /* a power of two; column 0 takes what nobody asks for */
#define CFI_REMEMBERED_MAX 8
#define CFI_INSTRUCTIONS_MAX (1U << 20) /* cc1plus has functions with over 8192 */

struct unwind;

enum cfi_how {
	CFI_UNSPECIFIED, /* as the ABI says: a callee-saved register is untouched */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,	     /* saved at CFA + offset; for the CFA: register + offset */
	CFI_VALUE_OFFSET,    /* is CFA + offset */
	CFI_IN_REGISTER,     /* in register reg */
	CFI_EXPRESSION,	     /* saved at; for the CFA: is. `length` bytes at the CIE + offset */
	CFI_VALUE_EXPRESSION /* is */
};

struct cfi_cell {
	u8 how; /* enum cfi_how */
	u8 reg;
	u16 length;
	s32 offset;
};

enum cfi_column {
	COLUMN_IGNORED,
	COLUMN_RBX,
	COLUMN_RBP,
	COLUMN_R12,
	COLUMN_R13,
	COLUMN_R14,
	COLUMN_R15,
	COLUMN_RETURN,
	COLUMN_RSP,
};

struct cfi_row {
	struct cfi_cell cfa;
	struct cfi_cell column[CFI_COLUMNS];
};

/* What a CIE says for all of its FDEs. */
struct cfi_entry {
	u64 cie; /* its address; 0: none was read */
	u64 code_alignment;
	u64 data_alignment; /* two's complement */
	u32 pointer_encoding;
	bool augmented;	    /* FDEs have augmentation data */
	bool is_signal;	    /* its frames were interrupted */
	u64 start, end;	    /* its instructions */
	struct cfi_row row; /* after them */
};

/* Both are decoded before the instruction that may have them is looked at. */
struct cfi_operands {
	u64 position; /* of the first one */
	u64 raw;
	struct leb128 first, second;
};

struct cfi {
	struct cfi_entry entry;
	u64 location; /* the row holds from here on, */
	u64 next;     /* to here; at first the end of the function */
	u64 pc;
	u32 stop;
	bool found; /* the row of pc is complete */
	u32 remembered_count;
	struct cfi_operands operands;
	struct cfi_row row;
	struct cfi_row remembered[CFI_REMEMBERED_MAX];
};

/*
 * Runs unwind->cfi over the instructions at [start, end), from the location on: the row is that of
 * cfi.pc. At most CFI_INSTRUCTIONS_MAX.
 */
CORE_INLINE u32 cfi_run(struct unwind *unwind, u64 start, u64 end);

/* From where that, or this, has ended: the row behind, in a function that ends at `end`. The
 * position is to be where it was left. */
CORE_INLINE u32 cfi_run_on(struct unwind *unwind, u64 end);

/* The row as a rule. STOP_UNSUPPORTED if the rule cannot say it. */
CORE_SUBPROGRAM u32 cfi_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
