/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks that come after their events. Event and stack have the same cookie, and either may
 * come first. Rings and files are the business of capture/drain/deferred.h.
 *
 * An event whose cookie has no stack yet gets a placeholder (trace/write/writer.h), one for each
 * form of the stack: without the leaf, which the event has itself, or in full. The stack gets the
 * placeholders that wait for it.
 *
 * A stack is kept until all events that can name it were read. The slots of these events were taken
 * before the stack was delivered, but may not be committed yet, or follow an uncommitted slot. Time
 * is therefore divided into epochs: an epoch ends when each ring was read up to its head at the
 * begin of the epoch. A stack is dropped after a whole epoch. A flight recorder reads its rings
 * again for each snapshot, but stacks that user space has unwound come only once, so they are
 * retained, up to a limit.
 *
 * A placeholder waits as long as its task, and the stack of a lasting cookie stays as long as
 * events get the cookie. When their number exceeds a limit that grows with use,
 * deferred_stacks_sweep() checks which cookies are still open; the stacks of closed cookies are
 * lost.
 *
 * Synchronisation. Within a process one thread uses a capture, without locks. Between processes and
 * programs:
 *
 *                              [1]  [2]  [3]  [4]
 *   [1] request, deliver        -    -    -    -   deferral.word by compare-and-swap; slots and
 *                                                  raw stacks by release
 *   [2] drain                   -    X    -    -   one reader: lock of NAME/pins/
 *   [3] snapshot                -    -    X    X   lock of NAME/; a private copy, raw stacks peeked
 *   [4] reset                   -    -    X    X   lock of NAME/; waits for generation_done, which
 *                                                  the drain sets when it has left the old table
 *
 * X: excluded by the lock. -: safe at the same time.
 */
#ifndef LIB_CAPTURE_DEFERRED_STACK_H
#define LIB_CAPTURE_DEFERRED_STACK_H

#include <stdbool.h>
#include <sys/queue.h>

#include "mapping.h"
#include "trace/event.h"

enum deferred_form { DEFERRED_BEHIND_LEAF, DEFERRED_FULL, DEFERRED_FORMS };

/* A value of stack_ref.vain: the code of the innermost frame, which the stack does not have. */
#define VAIN_LEAF MAPPINGS_MAX

/* A stack as an event refers to it. */
struct stack_ref {
	u32 index; /* of the stack in the file, or TRACE_NO_STACK */
	u8 reason; /* enum stack_reason, with TRACE_NO_STACK */
	u8 stop;   /* enum stop_reason, with a stack; STOP_COUNT: a placeholder, counted later */
	u32 vain;  /* the mapping whose code ended the stack or made it a guess, VAIN_LEAF, or 0 */
};

/* No stack yet: what an event keeps if its stacks cannot be read for want of memory. */
#define STACK_REF_NONE                                                                             \
	(struct stack_ref)                                                                         \
	{                                                                                          \
		.index = TRACE_NO_STACK, .reason = REASON_ANSWER_LOST                              \
	}

/* The stack of a cookie: in the map, or as frames, or the reason of its absence. */
struct deferred_stack {
	TAILQ_ENTRY(deferred_stack) link;
	TAILQ_ENTRY(deferred_stack) retained_link;
	u32 tid;
	u32 cookie;
	u64 epoch;  /* in which the stack became known, or the cookie was seen closed; 0 = open */
	bool known; /* the members up to `reason` are valid */
	bool retained; /* another snapshot needs it, too */
	u32 id;	       /* 0 = not in the map */
	u32 depth;
	u32 flags;   /* enum stack_flag, STACK_STOP */
	u64 *frames; /* own copy; NULL without depth */
	u64 leaf;    /* the frame in front of `frames`; 0 = no leaf, so both forms are equal */
	u8 reason;
	struct {
		u32 placeholder; /* TRACE_NO_STACK = no event waits */
		u64 events;	 /* number of waiting events */
		bool written;	 /* `ref` holds it for the current file */
		struct stack_ref ref;
	} form[DEFERRED_FORMS];
};

/* A stack that is not known, without placeholders. NULL: no memory. */
struct deferred_stack *deferred_stack_new(u32 tid, u32 cookie);
void deferred_stack_free(struct deferred_stack **stack);

/* Copies frames into the stack; depth > 0. -ENOMEM. */
int deferred_stack_set_frames(struct deferred_stack *stack, const u64 *frames, u32 depth,
			      u32 flags);

struct deferred_stacks;

int deferred_stacks_create(struct deferred_stacks **out);

/* From now on each stack stays until a sweep finds its cookie closed: events may come at any time
 * after their stacks. */
void deferred_stacks_keep(struct deferred_stacks *stacks);
void deferred_stacks_free(struct deferred_stacks **stacks);

/* The stack of a cookie; NULL: not known yet. Valid until another stack is added or an epoch
 * passes. */
struct deferred_stack *deferred_stacks_find(const struct deferred_stacks *stacks, u32 tid,
					    u32 cookie);

/* Adds an unknown stack for a cookie, to wait for. NULL: no memory. */
struct deferred_stack *deferred_stacks_want(struct deferred_stacks *stacks, u32 tid, u32 cookie);

/* True if events wait for the stack of this cookie. */
bool deferred_stacks_is_waited(const struct deferred_stacks *stacks, u32 tid, u32 cookie);

/* Takes over *stack, also on failure, and marks it as known. *stack gets the placeholders of
 * waiting events, for the caller to resolve. -EEXIST: the cookie has a stack already, which stays
 * as long as if it had come now, and *stack becomes NULL; -ENOMEM. */
int deferred_stacks_add(struct deferred_stacks *stacks, struct deferred_stack **stack);

/* The known stack behind `last`, or the first for NULL; NULL: no more stacks. */
struct deferred_stack *deferred_stacks_next(const struct deferred_stacks *stacks,
					    const struct deferred_stack *last);

/* Begins an empty file. `drops`: stacks that are not retained are dropped. */
void deferred_stacks_begin_file(struct deferred_stacks *stacks, bool drops);

/* Ends an epoch. */
void deferred_stacks_pass_epoch(struct deferred_stacks *stacks);

/* True if there are so many stacks that deferred_stacks_sweep() pays. */
bool deferred_stacks_are_crowded(const struct deferred_stacks *stacks);

struct deferred_sweep {
	/* True if the task waits for this cookie, or still gives it to events. */
	bool (*is_open)(void *arg, u32 tid, u32 cookie);
	/* Called for a cookie that will not get a stack. */
	void (*lost)(void *arg, struct deferred_stack *stack);
	void *arg;
};

/* Drops stacks whose cookies have been closed for a whole epoch. */
void deferred_stacks_sweep(struct deferred_stacks *stacks, const struct deferred_sweep *sweep);

/* Calls lost() for all waiting stacks, at the end of a file. */
void deferred_stacks_end(struct deferred_stacks *stacks, const struct deferred_sweep *sweep);

#endif
