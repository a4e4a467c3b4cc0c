/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps taken lately on one CPU: of a place in a file its rule, ready to be applied. Direct-mapped;
 * whoever holds the CPU's scratch slot 0 (abi/scratch.h) owns it, so it is plain memory.
 *
 * A place says all that the rule follows from, so a step holds in every process, and as long as the
 * file does. What does not follow from the place alone is not here: rules of generated code, of one
 * process, and behind a system call. Those, and all of whoever owns nothing here, have an entry of
 * the scratch slot, for as long as they are applied: a step always lies in this cache, so the
 * verifier follows one kind of pointer.
 */
#ifndef STACKMAP_ABI_STEP_CACHE_H
#define STACKMAP_ABI_STEP_CACHE_H

#include "rule.h"
#include "scalar.h"

#define STEP_CACHE_BITS 12
#define STEP_CACHE_KEPT (1U << STEP_CACHE_BITS)
#define STEP_CACHE_SLOTS 8 /* scratch slots */

/* In the place of a step: its pc is exact, not behind a call. */
#define STEP_INTERRUPTED (1ULL << 63)

struct cached_step {
	u64 place; /* frame (abi/stack.h) | STEP_INTERRUPTED; 0: none */
	struct unwind_rule rule;
	/* What follows from the rule, by DWARF number where it is a mask: */
	u16 kept;     /* registers that keep their value */
	u16 restored; /* registers that are saved below the CFA */
	u16 words;    /* the deepest of these; 0: the rule is not of that kind */
	u16 is_plain; /* CFA = register + offset, and nothing else is special */
};
ABI_SIZE(struct cached_step, 32);

struct step_cache {
	struct cached_step entry[STEP_CACHE_KEPT + STEP_CACHE_SLOTS];
};

#endif
