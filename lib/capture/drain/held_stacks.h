/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Raw stacks that wait for the rules of a file. A stack that ends in code without a rule, or goes
 * on by a guess, is unwound again when the file's table and analysis are there. Until then its
 * memory is kept here.
 */
#ifndef LIB_CAPTURE_HELD_STACKS_H
#define LIB_CAPTURE_HELD_STACKS_H

#include <stdbool.h>

#include "raw_stack.h"
#include "user_unwind/user_unwinder.h"

struct held_stack {
	struct held_stack *next;
	u32 number;	      /* the mapping whose rules it waits for */
	u32 depth;	      /* frames of the first walk; they lie behind `raw` */
	u32 flags;	      /* of the first walk, as in struct unwound_stack */
	struct raw_stack raw; /* without the unused part of `stack` */
};

struct held_stacks {
	struct held_stack *first;
	struct held_stack **last; /* where the next one goes; NULL before the first use */
	u64 bytes;
	u64 most; /* bytes that may be held */
};

/* Copies a raw stack and the result of its first walk. False: no memory. */
bool held_stacks_add(struct held_stacks *held, const struct raw_stack *raw,
		     const struct unwound_stack *first, u32 number);

/*
 * Replaces the result of a later walk by that of the first one if it ends early with fewer frames,
 * or has another frame behind generated code (`is_generated`): the process has gone, or its code
 * has changed.
 */
void held_stack_settle(const struct held_stack *stack,
		       bool (*is_generated)(void *argument, u64 frame), void *argument,
		       struct unwound_stack *later);

/* True if there are more than may be held. */
bool held_stacks_are_too_many(const struct held_stacks *held);

/* True if the stack of a cookie is held. */
bool held_stacks_has(const struct held_stacks *held, u32 tid, u32 cookie);

/* Takes all stacks out: a list, which the caller frees one by one with free(). */
struct held_stack *held_stacks_take(struct held_stacks *held);

/* Puts a stack that was taken out back, as the last one. */
void held_stacks_put(struct held_stacks *held, struct held_stack *stack);

void held_stacks_clear(struct held_stacks *held);

#endif
