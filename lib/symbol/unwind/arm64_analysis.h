/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rules of arm64 code without tables, from the machine code of a whole file.
 * code_analysis.h is the same for x86-64.
 */
#ifndef LIB_SYMBOL_ARM64_ANALYSIS_H
#define LIB_SYMBOL_ARM64_ANALYSIS_H

#include <stdbool.h>

#include "arm64_frame.h"
#include "code_file.h"

struct arm64_analysis;

/* Analyses an image, which must outlive the analysis. 0; -ENOMEM; -E2BIG: the work exceeds the
 * bound for the size of the code; -ENOEXEC: the code does not begin at a whole instruction. */
int arm64_analysis_create(const struct code_image *image, struct arm64_analysis **out);
void arm64_analysis_free(struct arm64_analysis **analysis);

/* Moves *address to the first instruction with a rule, at *address or after it and below `end`.
 * Gives the rule, and the end of the run of instructions with this rule. False: no further
 * instruction has a rule. */
bool arm64_analysis_next_rule(const struct arm64_analysis *analysis, u32 *address, u32 end,
			      struct unwind_rule *rule, u32 *rule_end);

/* The state of the frame before the instruction at an address; NULL: not known. */
const struct arm64_frame *arm64_analysis_frame(const struct arm64_analysis *analysis, u32 address);

#endif
