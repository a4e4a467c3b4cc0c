/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers that user space finds: the stacks that the programs could not finish come through the
 * ring buffer `raw_stacks`, are unwound (assist/assist.h), and go into the stack map as any stack.
 * They queue here until the drain, or a flight snapshot, takes them to their events.
 */
#ifndef LIB_CAPTURE_ASSISTED_H
#define LIB_CAPTURE_ASSISTED_H

#include <sys/queue.h>

#include "assist/assist.h"
#include "capture/read/answer_join.h"
#include "raw_stack.h"

struct found_answer {
	TAILQ_ENTRY(found_answer) link;
	u32 tid;
	u32 cookie;
	bool looked; /* its task, or its raw stack, answers once more */
	struct user_answer answer;
};

TAILQ_HEAD(found_answers, found_answer);

struct assisted;
struct loaded;

/* The maps are there, and shared with us. */
int assisted_create(struct loaded *loaded, struct assisted **out);
void assisted_free(struct assisted **assisted);

/* Processes that run for it: their ids; at most ASSIST_PROCESSES_MAX. */
u32 assisted_processes(const struct assisted *assisted, u32 *pids);

/* Unwinds all that is in the ring buffer. *fill: how full it was, in percent. -ENOMEM. */
int assisted_consume(struct assisted *assisted, u32 *fill);

/* The same, and leaves all there: for a snapshot of an instance that others read, too. */
int assisted_look(struct assisted *assisted);

/* The answer that this raw stack makes, for the caller to queue or to free. One that is only looked
 * at is not put into the stack map: there will be another. -ENOMEM. */
int assisted_finish(struct assisted *assisted, const struct raw_stack *raw, bool looked,
		    struct found_answer **out);

void assisted_queue(struct assisted *assisted, struct found_answer *found);
void found_answer_free(struct found_answer *found);

/* Oldest first. */
const struct found_answers *assisted_queued(const struct assisted *assisted);

/* Takes what was only looked at out of the queue. */
void assisted_forget_looked(struct assisted *assisted);

/* Takes the oldest out of the queue, or NULL. */
struct found_answer *assisted_next(struct assisted *assisted);

#endif
