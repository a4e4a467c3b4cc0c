/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Between rings, cookies and writer: what to do with a deferred stack, with a stack that user space
 * unwinds, with an event that has a cookie, and with those whose stack never comes.
 *
 * What the programs could not finish comes through the ring buffer `raw_stacks`, is unwound
 * (user_unwind/user_unwinder.h), and goes into the stack map as any stack.
 */
#ifndef LIB_CAPTURE_DEFERRED_H
#define LIB_CAPTURE_DEFERRED_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/open_cookies.h"
#include "capture/drain/recording.h"
#include "raw_stack.h"

struct user_unwinder;
struct unwound_stack;
struct ring_buffer;

struct deferred {
	struct deferred_stacks *stacks;
	struct open_cookies open; /* cookies, of the moment of a snapshot, a sweep, or the end */
	struct ring_buffer *raw;
	struct user_unwinder *unwinder;
	struct unwound_stack *unwound;
	u64 raw_bytes; /* read in this round */
	int result;    /* of this round */
};

/* -ENOMEM, -errno. */
int deferred_create(struct recording *recording);
void deferred_free(struct deferred **deferred);

/* The deferred stack at `position` of a ring. */
int deferred_take(struct recording *recording, const struct ring_view *ring, u64 position);

/* Unwinds all that is in the ring buffer by now; in READ_LIVE it stays there. *fill: how full it
 * was, in percent. */
int deferred_consume(struct recording *recording, u32 *fill);

/* The stack that these registers and this memory make, for the caller to join or to free. `peeked`:
 * there will be another, so it is not put into the stack map. -ENOMEM. */
int deferred_unwind(const struct recording *recording, const struct raw_stack *raw, bool peeked,
		    struct deferred_stack **out);

/* Takes the stack, and resolves the placeholders that wait for it. */
int deferred_join(struct recording *recording, struct deferred_stack *stack);

/* The user stack of an event with a cookie: the stack, or a placeholder, or in flight mode the
 * reason why there is none. With a stack a leaf from user mode becomes the stack's. */
int deferred_ref(struct recording *recording, u32 cookie, struct trace_event *event,
		 struct stack_ref *ref);

/* All rings were read to where they were when the epoch began. */
int deferred_pass_epoch(struct recording *recording);

/* No stack that is kept needs the stack map of this generation, or of one before, any more.
 * -ENOMEM. */
int deferred_keep_frames(struct recording *recording, u64 generation);

/* Which cookies are open now. */
int deferred_read_open(struct recording *recording);

/* The file ends: placeholders that wait get their reasons, by the cookies that were open when they
 * were last read, or are now. */
int deferred_give_up(struct recording *recording);
int deferred_end(struct recording *recording);

#endif
