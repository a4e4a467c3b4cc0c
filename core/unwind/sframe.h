/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SFrame, versions 1 to 3 ("The SFrame Format", GNU Binutils 2.40, 2.41 and 2.46). It gives the
 * places of CFA, return address and frame pointer, but not of the other callee-saved registers: a
 * rule made from it loses them.
 */
#ifndef CORE_SFRAME_H
#define CORE_SFRAME_H

#include <stdbool.h>

#include "env.h"
#include "rule.h"

struct unwind;

/* The section's header. */
struct sframe_header {
	u16 magic;
	u8 version;
	u8 flags;
	u8 abi;
	s8 fixed_fp_offset;
	s8 fixed_ra_offset;
	u8 extra_bytes; /* bytes of an auxiliary header behind this one */
	u32 function_count;
	u32 row_count;
	u32 row_bytes;
	u32 functions; /* offset from the end of both headers */
	u32 rows;
};
ABI_SIZE(struct sframe_header, 28);

struct sframe_search {
	struct sframe_header header;
	u64 section;   /* address */
	u64 functions; /* address of the index */
	u64 entry;     /* address of the index entry that covers the pc */
	u64 rows;
	u64 rows_end;
	u64 low, high;
	u32 entry_bytes;
	u32 stop;

	u64 function; /* address of the entry's function */
	u32 function_bytes;
	u32 first_row; /* offset */
	u32 rows_left;
	u32 pc_offset; /* offset of the pc in the function, or in its repeated block */
	u32 block_bytes;
	u8 info;
	u8 flexible;

	u8 row_info; /* info byte of the row that covers the pc */
	bool found;
	u32 word[8]; /* data words of that row */
};

/* Makes the rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no row covers the pc. */
CORE_SUBPROGRAM u32 sframe_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
