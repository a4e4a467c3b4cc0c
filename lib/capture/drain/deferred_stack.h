/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The deferred stacks that a reader keeps: user stacks that are delivered after their events. An
 * event and its stack have the same cookie, and either may be read first. capture/drain/deferred.h
 * reads the rings and writes the file.
 *
 * An event whose cookie has no stack yet gets a placeholder (trace/write/writer.h). Events with a
 * leaf of their own need the stack without its leaf, other events need the full stack; each of
 * these two forms has a placeholder of its own. When the stack arrives, it gets the placeholders
 * that wait for it.
 *
 * A stack is kept until all events that can have its cookie were read. The ring slots of these
 * events were reserved before the stack was delivered, but may not be committed yet, or follow an
 * uncommitted slot. Time is therefore divided into epochs: an epoch ends when each ring was read up
 * to the head that it had at the begin of the epoch. A stack is dropped after a whole epoch. A
 * flight recorder reads its rings again for each snapshot, but a stack that user space has unwound
 * is read only once; such stacks are retained for later snapshots, up to a limit.
 *
 * The trace and span of a cookie are committed before the stack, but by a program that may sleep
 * between both and go on at another CPU, so in another ring. Two rings are not read at the same
 * time: the stack may be read rounds before the trace and span. They have been read when a whole
 * epoch has passed since the stack was read.
 *
 * A cookie is open while a task still has to deliver its stack, or while later events may still get
 * it (lasting cookies, abi/deferral.h). Placeholders, and the stacks of lasting cookies, stay as
 * long as their cookie is open. When the number of open cookies exceeds a limit that grows with
 * use, deferred_stacks_sweep() checks which cookies are still open; the missing stacks of closed
 * cookies are lost.
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
#include "thread_context.h"
#include "trace/event.h"

enum deferred_form { DEFERRED_BEHIND_LEAF, DEFERRED_FULL, DEFERRED_FORMS };

/* A value of stack_ref.vain: the code without a rule is that of the leaf, which the event itself
 * has. */
#define VAIN_LEAF MAPPINGS_MAX

/* How an event refers to a stack. */
struct stack_ref {
	u32 index; /* index of the stack in the file, or TRACE_NO_STACK */
	u8 reason; /* enum stack_reason: why the event has no stack, if index is TRACE_NO_STACK */
	u8 stop;   /* enum stop_reason of the stack; STOP_COUNT: the index is that of a placeholder,
		      whose stop reason is counted later */
	u32 vain;  /* mapping whose code lacks a rule, so that the stack ends there or has guessed
		      frames; VAIN_LEAF; 0 = no such mapping */
};

/* The initial value of an event's stacks. An event keeps this value if memory is too short to read
 * its stacks. */
#define STACK_REF_NONE                                                                             \
	(struct stack_ref)                                                                         \
	{                                                                                          \
		.index = TRACE_NO_STACK, .reason = REASON_ANSWER_LOST                              \
	}

/* The stack of a cookie: an id in the stack map, or frames, or the reason of its absence. */
struct deferred_stack {
	TAILQ_ENTRY(deferred_stack) link;
	TAILQ_ENTRY(deferred_stack) retained_link;
	u32 tid;
	u32 cookie;
	u64 epoch; /* epoch in which the stack became known, or in which a sweep found the cookie
		      closed; 0 = the cookie counts as open */
	u64 delivered; /* epoch in which the task delivered the stack; 0 = the task has not
			  delivered it */
	bool known;    /* the stack is known: the members up to `reason` are valid */
	/* The stack was read early (peeked), and the same stack will be delivered later. */
	bool peeked;
	bool retained; /* the stack is kept for later snapshots, too */
	u32 id;	       /* id of the stack in the stack map; 0 = not in the map */
	u32 depth;
	u32 flags;   /* flags of the frames: enum stack_flag, STACK_STOP */
	u64 *frames; /* copy of the frames; NULL if depth is 0 */
	u64 leaf; /* the innermost frame, which `frames` does not have; 0 = no leaf, so both forms
		     are equal */
	u8 reason;
	/* `context` is set. The trace and span may come before the stack. */
	bool has_context;
	u64 context[CONTEXT_WORDS]; /* trace and span of the cookie (abi/thread_context.h) */
	struct {
		u32 placeholder; /* placeholder to which the waiting events refer; TRACE_NO_STACK =
				    no event waits */
		u64 events;	 /* number of waiting events */
		bool written;	 /* the file has this form of the stack already, as `ref` */
		struct stack_ref ref;
	} form[DEFERRED_FORMS];
};

/* Makes a stack without frames and placeholders. NULL: no memory. */
struct deferred_stack *deferred_stack_new(u32 tid, u32 cookie);
void deferred_stack_free(struct deferred_stack **stack);

/* Gives the stack a copy of the frames; depth > 0. -ENOMEM. */
int deferred_stack_set_frames(struct deferred_stack *stack, const u64 *frames, u32 depth,
			      u32 flags);

struct deferred_stacks;

int deferred_stacks_create(struct deferred_stacks **out);

/* Keeps each stack from now on until a sweep finds its cookie closed. For captures with origins,
 * whose events may come any time after their stacks. */
void deferred_stacks_keep_until_closed(struct deferred_stacks *stacks);
void deferred_stacks_free(struct deferred_stacks **stacks);

/* Returns the stack of a cookie; NULL: not known yet. The pointer is valid until another stack is
 * added or an epoch ends. */
struct deferred_stack *deferred_stacks_find(const struct deferred_stacks *stacks, u32 tid,
					    u32 cookie);

/* Returns the stack of a cookie, which is added without frames if it is not known yet. NULL: no
 * memory. */
struct deferred_stack *deferred_stacks_find_or_add_awaited(struct deferred_stacks *stacks, u32 tid,
							   u32 cookie);

/* Stores the trace and span of a cookie, CONTEXT_WORDS words. -ENOMEM. */
int deferred_stacks_set_context(struct deferred_stacks *stacks, u32 tid, u32 cookie,
				const u64 *words);

/* Returns the trace and span of a cookie; NULL: they have not come. The pointer is valid until
 * another stack is added or an epoch ends. */
const u64 *deferred_stacks_context(const struct deferred_stacks *stacks, u32 tid, u32 cookie);

/* Returns the epoch in which the task of a cookie has delivered the stack; 0: it has not, or the
 * stack was dropped. A peeked stack is not delivered. */
u64 deferred_stacks_epoch_of_delivery(const struct deferred_stacks *stacks, u32 tid, u32 cookie);

/* True if a whole epoch has passed since `epoch`: the rings then have no slots any more that were
 * committed before `epoch` ended. */
bool deferred_stacks_has_whole_epoch_passed(const struct deferred_stacks *stacks, u64 epoch);

/* True if events wait for the stack of this cookie. */
bool deferred_stacks_is_awaited(const struct deferred_stacks *stacks, u32 tid, u32 cookie);

/* Takes over *stack, also on failure, and marks it as known. *stack gets the placeholders of
 * waiting events, which the caller resolves. -EEXIST: the cookie has a known stack already; the
 * known stack is kept as long as if it had come now, and *stack becomes NULL. -ENOMEM. */
int deferred_stacks_add(struct deferred_stacks *stacks, struct deferred_stack **stack);

/* Iterates over the known stacks: the stack that follows `last`, or the first stack if `last` is
 * NULL. NULL: no more stacks. */
struct deferred_stack *deferred_stacks_next_known(const struct deferred_stacks *stacks,
						  const struct deferred_stack *last);

/* Begins a new file, which has no stacks yet. `drops`: drop the stacks that are not retained. */
void deferred_stacks_begin_file(struct deferred_stacks *stacks, bool drops);

/* Ends an epoch, and drops the stacks that became known before it. */
void deferred_stacks_end_epoch(struct deferred_stacks *stacks);

/* True if there are so many open cookies that deferred_stacks_sweep() should run. */
bool deferred_stacks_need_sweep(const struct deferred_stacks *stacks);

struct deferred_sweep {
	/* True if a task still has to deliver this cookie's stack, or later events may get the
	 * cookie. */
	bool (*is_open)(void *arg, u32 tid, u32 cookie);
	/* Called for a closed cookie whose stack did not come. */
	void (*lost)(void *arg, struct deferred_stack *stack);
	void *arg;
};

/* Drops stacks whose cookies have been closed for a whole epoch. */
void deferred_stacks_sweep(struct deferred_stacks *stacks, const struct deferred_sweep *sweep);

/* At the end of a file: calls lost() for all cookies whose stack has not come, and drops them. */
void deferred_stacks_drop_waiting(struct deferred_stacks *stacks,
				  const struct deferred_sweep *sweep);

#endif
