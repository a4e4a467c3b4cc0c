/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins the cookies of events with their answers, whichever comes first, whatever rings they come
 * through. It knows nothing of rings and files: the drain (capture/read/drain.c) asks it what to
 * do.
 *
 * An event whose cookie has no answer yet gets a promise (trace/write/writer.h), one for each form
 * of the stack: behind a leaf that the event has itself, or in full. An answer takes the promises
 * that wait for it.
 *
 * An answer is kept until all events that can name it were seen. Their slots were taken before it
 * was given, but may not be committed yet, or stand behind one that is not. So time goes in epochs:
 * one ends when each ring was read to where its head was when the epoch began; an answer is dropped
 * when a whole epoch lies behind it.
 *
 * Promises are kept as long as their task waits, and answers to lasting cookies as long as events
 * are given them. When there are more than so many, or twice as many as before, answer_join_sweep()
 * asks which cookies are still open: what was written for the others is lost.
 */
#ifndef LIB_CAPTURE_ANSWER_JOIN_H
#define LIB_CAPTURE_ANSWER_JOIN_H

#include <stdbool.h>

#include "trace/event.h"

enum answer_form { ANSWER_BEHIND_LEAF, ANSWER_FULL, ANSWER_FORMS };

/* A stack as an event names it. */
struct stack_name {
	u32 index; /* of the stack, or TRACE_NO_STACK */
	u8 reason; /* enum stack_reason, then */
	u8 stop;   /* enum stop_reason, else; STOP_COUNT: a promise, counted when it is answered */
};

/* What a cookie stands for: a stack in the map, or its frames, or the reason why there is none. */
struct user_answer {
	u32 id; /* 0: not in the map */
	u32 depth;
	u32 flags;   /* enum stack_flag, STACK_STOP */
	u64 *frames; /* NULL without depth; the join frees it */
	u64 leaf;    /* the frame in front of all these; 0: none, the forms are equal */
	u8 reason;
	bool named[ANSWER_FORMS]; /* name[] holds it for the current file */
	struct stack_name name[ANSWER_FORMS];
};

/* Events of one form that wait for an answer. */
struct promise {
	u32 index; /* TRACE_NO_STACK: nobody waits */
	u64 events;
};

struct answer_join;

int answer_join_create(struct answer_join **out);
void answer_join_free(struct answer_join **join);

/* The answer, or NULL: none yet. Valid until the join changes. */
struct user_answer *answer_join_find(struct answer_join *join, u32 tid, u32 cookie);

/* What events of this form wait for; made, with TRACE_NO_STACK, if they are the first. NULL: no
 * memory. The cookie has no answer. */
struct promise *answer_join_wait(struct answer_join *join, u32 tid, u32 cookie,
				 enum answer_form form);

/* Whether events wait for this cookie. */
bool answer_join_is_waited(const struct answer_join *join, u32 tid, u32 cookie);

/* Stores an answer and hands over who waited. Takes answer->frames in any case. -EEXIST: the cookie
 * has an answer, which stays, as long as if it had come now; -ENOMEM. */
int answer_join_answer(struct answer_join *join, u32 tid, u32 cookie,
		       const struct user_answer *answer, struct promise waiting[ANSWER_FORMS]);

/* Every answer that there is; stops at the first that is not 0, which it returns. */
int answer_join_each(struct answer_join *join, int (*each)(void *arg, struct user_answer *answer),
		     void *arg);

/* An epoch is over. */
void answer_join_epoch(struct answer_join *join);

/* Whether there is so much that answer_join_sweep() is worth its while. */
bool answer_join_is_crowded(const struct answer_join *join);

struct answer_join_sweep {
	/* Whether the task waits for this cookie, or goes on to give it to events. */
	bool (*is_open)(void *arg, u32 tid, u32 cookie);
	/* Nobody will answer these. */
	void (*lost)(void *arg, u32 tid, u32 cookie, const struct promise waiting[ANSWER_FORMS]);
	void *arg;
};

/* Drops what was closed already an epoch before, and is still. */
void answer_join_sweep(struct answer_join *join, const struct answer_join_sweep *sweep);

/* The end: every promise that waits is lost. */
void answer_join_end(struct answer_join *join, const struct answer_join_sweep *sweep);

#endif
