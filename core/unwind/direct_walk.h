/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fast walk up a user stack, at the event itself: steps by rules that are known already and by
 * stack words that can be read at once. Where either is missing it ends, and whoever asked has the
 * stack unwound later, by the whole unwinder (unwind.h).
 *
 * A stack of which walk->is_final says so is the one that unwind_stack() gives: it ends at the root
 * or at the limit of frames, or where neither tables, code nor stack say who the caller is. Any
 * other stop says only why the walk could not go on.
 *
 * The embedder supplies four functions, and those of rule_search.h, natively by linking them, in
 * BPF by defining them before it includes cached_rule.c, code_rule.c, code_scan.c,
 * return_search.c, rule_search.c, table_search.c and direct_walk.c.
 */
#ifndef CORE_DIRECT_WALK_H
#define CORE_DIRECT_WALK_H

#include <stdbool.h>

#include "direct_memory.h"
#include "env.h"
#include "rule_search.h"
#include "stack.h"
#include "step_cache.h"

struct code_range {
	u64 start, end;
};

struct direct {
	struct direct_walk *walk;
	struct step_cache *steps;
	struct rule_cache *rules;
	struct stack *stack; /* gets the frames, their number and flags */
	void *memory;	     /* the embedder's */
};

/* The embedder's: reads memory of the task without a fault, all bytes or none. */
CORE_INLINE bool direct_read(u64 address, void *buffer, u32 bytes);

/* The embedder's: a pc as a frame, and whether it is in generated code. 0: it is none that can be
 * named. One that stands for another (a return address that a probe has taken) it replaces in the
 * registers. */
CORE_INLINE u64 direct_frame(struct direct *direct, u64 pc, bool *is_generated);

/* Of the pc that direct_frame() was asked for last, the embedder's too: whether its mapping is one
 * of a file in which the tables of the file cannot be found, and where that mapping lies. */
CORE_INLINE bool direct_code_apart(struct direct *direct);
CORE_INLINE struct code_range direct_code_range(struct direct *direct);

/* Walks from walk->registers. */
CORE_INLINE void direct_walk(struct direct *direct);

#endif
