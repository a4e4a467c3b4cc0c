/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Raw stacks (copies of registers and stack memory, abi/raw_stack.h) that wait for the unwind rules
 * of a file. A stack that ends in code without a rule, or has guessed frames for lack of a rule, is
 * unwound again when the unwind table and the code analysis of the file exist. Until then the raw
 * stack is held here.
 */
#ifndef LIB_CAPTURE_HELD_STACKS_H
#define LIB_CAPTURE_HELD_STACKS_H

#include <stdbool.h>

#include "raw_stack.h"
#include "user_unwind/user_unwinder.h"

struct held_stack {
	struct held_stack *next;
	u32 number; /* number of the mapping whose unwind rules the stack waits for */
	u32 depth; /* number of frames that the first unwinding gave; they follow `raw` in memory */
	u32 flags; /* flags of the frames that the first unwinding gave, as in struct unwound_stack
		    */
	struct raw_stack raw; /* the raw stack; the unused end of its array `stack` is not stored */
};

struct held_stacks {
	struct held_stack *first;
	struct held_stack *
		*last; /* the pointer that the next stack is linked to; NULL before the first use */
	u64 bytes;
	u64 most; /* the most bytes of held stacks (held_stacks_exceed_limit()) */
};

/* Adds a copy of a raw stack, and of the frames that its first unwinding gave. `number`: the
 * mapping whose rules the stack waits for. False: no memory. */
bool held_stacks_add(struct held_stacks *held, const struct raw_stack *raw,
		     const struct unwound_stack *first, u32 number);

/*
 * Chooses between the frames of the first unwinding of a held stack and those of a later one,
 * `later`. The first frames replace those in `later` if the later stack ends early with fewer
 * frames, or if the two stacks differ in a frame that is a caller of generated code
 * (is_generated()): the process has exited meanwhile, or its generated code has changed.
 */
void held_stack_choose_better_unwinding(const struct held_stack *stack,
					bool (*is_generated)(void *argument, u64 frame),
					void *argument, struct unwound_stack *later);

/* True if more bytes are held than may be. */
bool held_stacks_exceed_limit(const struct held_stacks *held);

bool held_stacks_has(const struct held_stacks *held, u32 tid, u32 cookie);

/* Removes all stacks and returns them as a list; the caller frees each stack with free(). */
struct held_stack *held_stacks_take_all(struct held_stacks *held);

/* Adds a stack of held_stacks_take_all() again, as the last stack. */
void held_stacks_append(struct held_stacks *held, struct held_stack *stack);

void held_stacks_clear(struct held_stacks *held);

#endif
