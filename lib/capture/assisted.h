/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers that user space finds: the stacks that the programs could not finish come through the
 * ring buffer `raw_stacks`, are unwound (assist/assist.h), and go into the stack map as any stack.
 * They queue here until the drain, or a flight snapshot, takes them to their events.
 */
#ifndef LIB_CAPTURE_ASSISTED_H
#define LIB_CAPTURE_ASSISTED_H

#include <sys/queue.h>

#include "capture/answer_join.h"
#include "capture/capture.h"

struct found_answer {
	TAILQ_ENTRY(found_answer) link;
	u32 tid;
	u32 cookie;
	struct user_answer answer;
};

TAILQ_HEAD(found_answers, found_answer);

struct assisted;

/* The maps are there, and shared with us. */
int assisted_create(struct capture *capture, struct assisted **out);
void assisted_free(struct assisted **assisted);

/* Unwinds all that is in the ring buffer. *fill: how full it was, in percent. -ENOMEM. */
int assisted_consume(struct assisted *assisted, u32 *fill);

/* The same, and leaves all there: for a snapshot of an instance that others read, too. */
int assisted_look(struct assisted *assisted);

/*
 * The stack of a task that waits for `cookie`, which the caller has just had put into the ring
 * buffer with RAW_ALIVE; NULL: it was not there. The caller queues or frees it.
 */
struct found_answer *assisted_take_alive(struct assisted *assisted, u32 tid, u32 cookie);

void assisted_queue(struct assisted *assisted, struct found_answer *found);
void found_answer_free(struct found_answer *found);

/* Oldest first; the caller may remove and free. */
struct found_answers *assisted_queued(struct assisted *assisted);

/* Takes the oldest out of the queue, or NULL. */
struct found_answer *assisted_next(struct assisted *assisted);

#endif
