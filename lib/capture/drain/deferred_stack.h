/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks that come after their events, by the cookie that both have: cookie -> placeholder ->
 * stack, whichever comes first. It knows nothing of rings and files: capture/drain/deferred.h does.
 *
 * An event whose cookie has no stack yet gets a placeholder (trace/write/writer.h), one for each
 * form of the stack: behind a leaf that the event has itself, or in full. The stack takes the
 * placeholders that wait for it.
 *
 * A stack is kept until all events that can name it were seen. Their slots were taken before it was
 * given, but may not be committed yet, or stand behind one that is not. So time goes in epochs: one
 * ends when each ring was read to where its head was when the epoch began; a stack is dropped when
 * a whole epoch lies behind it. A flight recorder reads its rings again for each snapshot, but what
 * user space has unwound comes only once: that is retained, up to a limit.
 *
 * Placeholders wait as long as their task does, and stacks of lasting cookies as long as events are
 * given them. When there are more than so many, or twice as many as before, deferred_stacks_sweep()
 * asks which cookies are still open: what was written for the others is lost.
 *
 * Who meets whom. Within a process nothing is locked: a capture is one thread's. Between processes
 * and the programs:
 *
 *                              [1]  [2]  [3]  [4]
 *   [1] request, deliver        -    -    -    -   deferral.word by compare-and-swap; slots and
 *                                                  raw stacks by release
 *   [2] drain                   -    X    -    -   one reader: lock of NAME/pins/
 *   [3] snapshot                -    -    X    X   lock of NAME/; a private copy, raw stacks peeked
 *   [4] reset                   -    -    X    X   lock of NAME/; waits for generation_done, which
 *                                                  the drain sets when it needs the map no more
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

/* Stands for the code of the innermost frame, which the stack does not have. */
#define VAIN_LEAF MAPPINGS_MAX

/* A stack as an event refers to it. */
struct stack_ref {
	u32 index; /* of the stack in the file, or TRACE_NO_STACK */
	u8 reason; /* enum stack_reason, then */
	u8 stop;   /* enum stop_reason, else; STOP_COUNT: a placeholder, counted when it is resolved
		    */
	u32 vain;  /* the mapping whose code ended the stack or made it a guess, VAIN_LEAF, or 0 */
};

/* What a cookie stands for: a stack in the map, or its frames, or the reason why there is none. */
struct deferred_stack {
	TAILQ_ENTRY(deferred_stack) link;
	TAILQ_ENTRY(deferred_stack) retained_link;
	u32 tid;
	u32 cookie;
	u64 epoch; /* in which it became known; of one to be swept: when it was seen closed, or 0 */
	bool known;    /* what follows up to `reason` is true */
	bool retained; /* another snapshot needs it, too */
	u32 id;	       /* 0: not in the map */
	u32 depth;
	u32 flags;   /* enum stack_flag, STACK_STOP */
	u64 *frames; /* NULL without depth; its own */
	u64 leaf;    /* the frame in front of all these; 0: none, the forms are equal */
	u8 reason;
	struct {
		u32 placeholder; /* TRACE_NO_STACK: nobody waits */
		u64 events;	 /* that wait */
		bool written;	 /* `ref` holds it for the current file */
		struct stack_ref ref;
	} form[DEFERRED_FORMS];
};

/* Nothing is known of it, nobody waits. NULL: no memory. */
struct deferred_stack *deferred_stack_new(u32 tid, u32 cookie);
void deferred_stack_free(struct deferred_stack **stack);

/* Copies them; depth > 0. -ENOMEM. */
int deferred_stack_set_frames(struct deferred_stack *stack, const u64 *frames, u32 depth,
			      u32 flags);

struct deferred_stacks;

int deferred_stacks_create(struct deferred_stacks **out);
void deferred_stacks_free(struct deferred_stacks **stacks);

/* The stack, or NULL: it is not known yet. Valid until another is added, or an epoch passes. */
struct deferred_stack *deferred_stacks_find(const struct deferred_stacks *stacks, u32 tid,
					    u32 cookie);

/* That of a cookie without one, to wait for. NULL: no memory. */
struct deferred_stack *deferred_stacks_want(struct deferred_stacks *stacks, u32 tid, u32 cookie);

/* Whether events wait for this cookie. */
bool deferred_stacks_is_waited(const struct deferred_stacks *stacks, u32 tid, u32 cookie);

/* Takes *stack, in any case, with what it is: it is known. It has the placeholders of those who
 * waited, for the caller to resolve. -EEXIST, *stack is NULL: the cookie has a stack, which stays,
 * as long as if it had come now; -ENOMEM. */
int deferred_stacks_add(struct deferred_stacks *stacks, struct deferred_stack **stack);

/* The known stack behind another one, or with NULL the first; NULL: there is none. */
struct deferred_stack *deferred_stacks_next(const struct deferred_stacks *stacks,
					    const struct deferred_stack *last);

/* Another file begins: nothing is in it. `drops`: what is not retained goes. */
void deferred_stacks_begin_file(struct deferred_stacks *stacks, bool drops);

/* An epoch is over. */
void deferred_stacks_pass_epoch(struct deferred_stacks *stacks);

/* Whether there is so much that deferred_stacks_sweep() is worth its while. */
bool deferred_stacks_are_crowded(const struct deferred_stacks *stacks);

struct deferred_sweep {
	/* Whether the task waits for this cookie, or goes on to give it to events. */
	bool (*is_open)(void *arg, u32 tid, u32 cookie);
	/* Nobody will give it a stack. */
	void (*lost)(void *arg, struct deferred_stack *stack);
	void *arg;
};

/* Drops what was closed already an epoch before, and is still. */
void deferred_stacks_sweep(struct deferred_stacks *stacks, const struct deferred_sweep *sweep);

/* The end: everything that waits is lost. */
void deferred_stacks_end(struct deferred_stacks *stacks, const struct deferred_sweep *sweep);

#endif
