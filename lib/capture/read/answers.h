/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Between rings, join and writer: what to do with a delivery, with an event that has a cookie, and
 * with those that nobody answers.
 */
#ifndef LIB_CAPTURE_ANSWERS_H
#define LIB_CAPTURE_ANSWERS_H

#include "capture/read/answer_join.h"
#include "capture/read/recording.h"

/* The delivery at `position`. */
int answers_deliver(struct recording *recording, const struct ring_view *ring, u64 position);

/* Those that user space found since. Drain: takes them; flight: they stay for the next snapshot. */
int answers_find(struct recording *recording, u32 *fill);

/* The user stack of an event with a cookie: its answer, or a promise of one, or in flight mode the
 * reason why there is none. With a stack a leaf from user mode becomes the answer's. */
int answers_name(struct recording *recording, u32 cookie, struct trace_event *event,
		 struct stack_name *name);

/* Counts the user stack of so many events in the ledger. */
void answers_count(struct recording *recording, const struct stack_name *name, u64 events);

/* All rings were read to where they were when the epoch began. */
int answers_epoch(struct recording *recording);

/* No answer that is kept needs the stack map of this generation, or of one before, any more.
 * -ENOMEM. */
int answers_keep_frames(struct recording *recording, u64 generation);

/* Who waits now. */
int answers_look(struct recording *recording);

/* The file ends: what was promised and is not known gets its reason: who still waits, as last
 * looked, or now. */
int answers_give_up(struct recording *recording);
int answers_end(struct recording *recording);

/* Another file begins: it has nothing of what answers were named in the last one. */
int answers_forget_names(struct recording *recording);

#endif
