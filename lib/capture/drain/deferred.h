/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins deferred stacks to their events: takes deferred stacks from the rings, unwinds stacks that
 * the programs could not finish, finds the stack of an event with a cookie, and gives up cookies
 * whose stack never comes.
 *
 * Unfinished stacks come through the ring buffer `raw_stacks`, are unwound in user space
 * (user_unwind/user_unwinder.h), and go into the stack map like all stacks.
 */
#ifndef LIB_CAPTURE_DEFERRED_H
#define LIB_CAPTURE_DEFERRED_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/held_stacks.h"
#include "capture/drain/open_cookies.h"
#include "capture/drain/recording.h"
#include "raw_stack.h"

struct user_unwinder;
struct unwound_stack;
struct ring_buffer;

struct deferred {
	struct deferred_stacks *stacks;
	struct open_cookies open; /* cookies that were open at a snapshot, a sweep, or the end */
	struct held_stacks held;  /* raw stacks that wait for rules */
	struct ring_buffer *raw;
	struct user_unwinder *unwinder;
	struct unwound_stack *unwound;
	u64 raw_bytes; /* bytes read in this round */
	int result;    /* first error of this round */
};

/* -ENOMEM, -errno. */
int deferred_create(struct recording *recording);
void deferred_free(struct deferred **deferred);

/* Takes the deferred stack at `position` of a ring. */
int deferred_take(struct recording *recording, const struct ring_view *ring, u64 position);

/* Unwinds all raw stacks that are in the ring buffer now; with READ_LIVE they stay there. *fill:
 * use of the ring buffer before, in percent. */
int deferred_consume(struct recording *recording, u32 *fill);

/* Unwinds the raw stacks whose rules have come meanwhile; `all`: those that still wait, too.
 * -errno, -ENOMEM. */
int deferred_unwind_held(struct recording *recording, bool all);

/* True if raw stacks wait for rules. */
bool deferred_are_held(const struct recording *recording);

/* Unwinds registers and memory to a stack, which the caller joins or frees. `peeked`: the task will
 * deliver its stack itself, so this one is not put into the stack map. -ENOMEM. */
int deferred_unwind(const struct recording *recording, const struct raw_stack *raw, bool peeked,
		    struct deferred_stack **out);

/* Takes over a stack, and resolves the placeholders that wait for it. */
int deferred_join(struct recording *recording, struct deferred_stack *stack);

/* Finds the user stack of an event with a cookie: the stack, or a placeholder, or in flight mode
 * the reason of its absence. The leaf of the stack replaces an event's leaf from user mode. */
int deferred_ref(struct recording *recording, u32 cookie, struct trace_event *event,
		 struct stack_ref *ref);

/* Ends an epoch: all rings were read up to their heads at its begin. */
int deferred_pass_epoch(struct recording *recording);

/* Copies the frames of kept stacks, so that no stack needs the stack map of this generation or of
 * an older one any more. -ENOMEM. */
int deferred_keep_frames(struct recording *recording, u64 generation);

/* Reads the cookies that are open now. */
int deferred_read_open(struct recording *recording);

/* Ends a file: stacks that wait for rules are unwound without them, and waiting placeholders get
 * their reasons, by the cookies that were open at the last
 * deferred_read_open(), or that are open now. */
int deferred_give_up(struct recording *recording);
int deferred_end(struct recording *recording);

#endif
