/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rules of code without tables, from the machine code of a whole file, as the kernel's
 * objtool makes them for ORC. docs/internals/code_analysis.md describes the method.
 *
 * Addresses are those of the file, below 2^31. The code may be any bytes: work and memory are
 * bounded by their number.
 */
#ifndef LIB_SYMBOL_CODE_ANALYSIS_H
#define LIB_SYMBOL_CODE_ANALYSIS_H

#include <stdbool.h>

#include "code_file.h"
#include "rule.h"

struct code_analysis;

/* Analyses an image, which must outlive the analysis. 0; -ENOMEM; -E2BIG: the work exceeds the
 * bound for the size of the code. */
int code_analysis_create(const struct code_image *image, struct code_analysis **out);
void code_analysis_free(struct code_analysis **analysis);

/* Moves *address to the first instruction with a rule, at *address or after it and below `end`.
 * Gives the rule, and the end of the run of instructions with this rule. False: no further
 * instruction has a rule. */
bool code_analysis_next_rule(const struct code_analysis *analysis, u32 *address, u32 end,
			     struct unwind_rule *rule, u32 *rule_end);

/* The state of the frame before the instruction that begins at an address; NULL: not known. */
struct frame_state;
const struct frame_state *code_analysis_state(const struct code_analysis *analysis, u32 address);

struct code_analysis_counts {
	u32 functions, accepted, failed;
	u64 steps, states, bytes;
};
void code_analysis_count(const struct code_analysis *analysis, struct code_analysis_counts *counts);

#endif
