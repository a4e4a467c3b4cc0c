/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps taken lately on one CPU: of a pc in one address space its frame and its rule, so that the
 * next walk over it needs neither mapping nor rule. Direct-mapped; whoever holds the CPU's scratch
 * slot 0 (abi/scratch.h) owns it, so it is plain memory.
 *
 * An entry holds as long as the mappings are not changed (struct address_space). Generated code
 * changes without that, so none of it is here.
 */
#ifndef STACKMAP_ABI_STEP_CACHE_H
#define STACKMAP_ABI_STEP_CACHE_H

#include "address_space.h"
#include "rule.h"
#include "scalar.h"

#define STEP_CACHE_BITS 12

/* In the pc of a step: it is exact, not behind a call. */
#define STEP_INTERRUPTED (1ULL << 63)

struct cached_step {
	struct address_space space;
	u64 pc; /* | STEP_INTERRUPTED */
	u64 frame;
	struct unwind_rule rule;
	/* What follows from the rule, by DWARF number where it is a mask: */
	u16 kept;     /* registers that keep their value */
	u16 restored; /* registers that are saved below the CFA */
	u16 words;    /* the deepest of these; 0: the rule is not of that kind */
	u16 is_plain; /* CFA = register + offset, and nothing else is special */
};
ABI_SIZE(struct cached_step, 64);

struct step_cache {
	struct cached_step entry[1U << STEP_CACHE_BITS];
};

#endif
