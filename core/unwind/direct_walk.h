/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fast walk up a user stack, at the event itself: steps by rules that are known already and by
 * stack words that can be read at once. Where either is missing it ends, and whoever asked has the
 * stack unwound later, by the whole unwinder (unwind.h).
 *
 * A stack that it completes, STOP_ROOT or STOP_DEPTH, is the one that unwind_stack() gives. Any
 * other stop says only why it could not go on.
 *
 * The embedder supplies two functions, and those of table_search.h, natively by linking them, in
 * BPF by defining them before it includes cached_rule.c, table_search.c and direct_walk.c.
 */
#ifndef CORE_DIRECT_WALK_H
#define CORE_DIRECT_WALK_H

#include <stdbool.h>

#include "cached_rule.h"
#include "direct_memory.h"
#include "env.h"
#include "stack.h"
#include "step_cache.h"
#include "table_search.h"

struct direct {
	struct direct_walk *walk;
	struct step_cache *steps;
	struct rule_cache *rules;
	struct stack *stack; /* gets the frames, their number and flags */
	void *memory;	     /* the embedder's */
};

/* The embedder's: reads memory of the task without a fault, all bytes or none. */
CORE_INLINE bool direct_read(struct direct *direct, u64 address, void *buffer, u32 bytes);

/* The embedder's: a pc as a frame, and of generated code where its mapping starts. 0: it is none
 * that can be named. One that stands for another (a return address that a probe has taken) it
 * replaces in the registers. */
CORE_INLINE u64 direct_frame(struct direct *direct, u64 pc, u64 *code_start);

/* The embedder's: where the mapping of the pc starts that direct_frame() was asked for last, if it
 * is one of a file in which the tables of the file cannot be found; or 0. Without `may_look` only
 * if that is known. */
CORE_INLINE u64 direct_code_apart(struct direct *direct, bool may_look);

/* Walks from walk->registers. */
CORE_INLINE void direct_walk(struct direct *direct);

#endif
