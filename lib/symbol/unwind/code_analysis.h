/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rules of code without tables, from the machine code of a whole file: what the kernel's
 * objtool does for ORC, for user programs. docs/internals/code_analysis.md has the method.
 *
 * All addresses are those of the file, below 2^31. The bytes may be anything: the work and the
 * memory are bounded by the number of bytes.
 */
#ifndef LIB_SYMBOL_CODE_ANALYSIS_H
#define LIB_SYMBOL_CODE_ANALYSIS_H

#include <stdbool.h>

#include "code_rows.h"
#include "rule.h"

/* A word of the file's memory that holds an address. */
struct code_pointer {
	u32 slot;
	u32 target;
};

struct code_image {
	const u8 *bytes; /* from address `start` on */
	u32 start, end;
	bool has_symbols;
	bool is_fixed; /* mapped at the addresses that it has in the file */
	u32 entry;     /* of the program; 0: none */
	/* All of these ascend by their first field and do not overlap. */
	const struct file_span *sections; /* what is code */
	u32 section_count;
	const struct file_span *covered; /* functions with a table */
	u32 covered_count;
	const struct file_span *symbols; /* functions by name; end = start: of unknown size */
	u32 symbol_count;
	const struct code_pointer *pointers;
	u32 pointer_count;
	const u32 *noreturn; /* functions that never return, and words that hold their address */
	u32 noreturn_count;
	/* Constants of the file, all bytes or none. */
	bool (*read)(void *context, u32 address, void *buffer, u32 bytes);
	void *context;
};

struct code_analysis;

/* Borrows the image. -ENOMEM; -E2BIG: the code asked for more work than its size is worth. */
int code_analysis_create(const struct code_image *image, struct code_analysis **out);
void code_analysis_free(struct code_analysis **analysis);

/* The first instruction at or behind *address that has a rule, below `end`: the rule, and where
 * the run of instructions with this rule ends. False: there is none. */
bool code_analysis_next(const struct code_analysis *analysis, u32 *address, u32 end,
			struct unwind_rule *rule, u32 *rule_end);

/* What is known at the first byte of an instruction; NULL: nothing. */
struct frame_state;
const struct frame_state *code_analysis_state(const struct code_analysis *analysis, u32 address);

struct code_analysis_counts {
	u32 functions, accepted, failed;
	u64 steps, states, bytes;
};
void code_analysis_count(const struct code_analysis *analysis, struct code_analysis_counts *counts);

#endif
