/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cache of the latest steps on one CPU: place in a file -> its rule, ready to be applied.
 * Direct-mapped. The owner of the CPU's scratch slot 0 (abi/scratch.h) owns the cache, so it is
 * plain memory.
 *
 * A place determines its step, so a cached step holds in every process and as long as the file
 * exists. Steps that depend on more than the place are not cached: steps in generated code, with
 * rules of one process, and behind a system call. Such steps, and all steps of programs in other
 * scratch slots, use the entry of their scratch slot while they are applied. A step always lies in
 * this map, so the verifier follows one kind of pointer.
 */
#ifndef STACKMAP_ABI_STEP_CACHE_H
#define STACKMAP_ABI_STEP_CACHE_H

#include "rule.h"
#include "scalar.h"

#define STEP_CACHE_BITS 12
#define STEP_CACHE_KEPT (1U << STEP_CACHE_BITS)
#define STEP_CACHE_SLOTS 8 /* scratch slots */

/* A flag in `place`: the pc is exact, not behind a call. */
#define STEP_INTERRUPTED (1ULL << 63)

/*
 * Steps of an older generation do not count: a table that marks code (abi/script.h) begins a new
 * one. Stored in bits of `place` that no mapping number reaches.
 */
#define STEP_GENERATION(number) (((u64)(number)&0x1ff) << 53)

struct cached_step {
	u64 place; /* (frame (abi/stack.h) | STEP_INTERRUPTED) ^ STEP_GENERATION; 0: empty */
	struct unwind_rule rule;
	/* Derived from the rule; masks are by DWARF number, from STEP_MASK_SHIFT on: */
	u16 kept;     /* registers that keep their value */
	u16 restored; /* registers that are saved below the CFA */
	u16 words;    /* largest slot of `restored`, and flags; 0: the rule is of another kind */
	u16 is_plain; /* 1: CFA = register + offset, and the rule has no special case */
};
ABI_SIZE(struct cached_step, 32);

struct step_cache {
	struct cached_step entry[STEP_CACHE_KEPT + STEP_CACHE_SLOTS];
};

#endif
