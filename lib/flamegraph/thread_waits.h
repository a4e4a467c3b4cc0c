/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single waits of threads, for the strips of the page: the longest waits of each thread, at most
 * WAITS_MAX in all, so that the page stays small however many waits a recording has. A thread with
 * fewer waits than its part leaves room to the others.
 */
#ifndef LIB_FLAMEGRAPH_THREAD_WAITS_H
#define LIB_FLAMEGRAPH_THREAD_WAITS_H

#include <stdbool.h>

#include "flamegraph/stack_tree.h"
#include "flamegraph/time_cells.h"

#define WAITS_MAX 8192U

struct trace_event;

/* Another thread that had a part in a wait, and its stack; NULL: not known. */
struct wait_side {
	const struct tree_node *stack;
	u32 thread;
};

struct thread_wait {
	u64 begin, length; /* ns */
	u32 thread;	   /* number */
	u32 user, kernel;  /* path ids */
	u16 source;
	/* Events of the waker (`other`), of the queuer of the work that waited (`origin`), and of
	 * the queuer of the work that woke. NULL: not known. The events outlive the waits. */
	const struct trace_event *other, *origin, *other_origin;

	/* Set by the owner of the tree when all waits are added. */
	const struct tree_node *stack;
	struct wait_side waker, queuer, waker_queuer;
};

struct thread_waits {
	struct thread_wait *waits;
	u32 count, room;
	bool has_queuers; /* set by the owner of the tree */
};

int thread_waits_add(struct thread_waits *waits, const struct thread_wait *wait); /* -ENOMEM */

/* Leaves WAITS_MAX waits at most, by thread and begin. */
void thread_waits_finish(struct thread_waits *waits);
void thread_waits_clear(struct thread_waits *waits);

/* Sums of the events in queued work, by their stack and by the thread and stack that queued the
 * work (record --origins). */

#define QUEUED_WORK_MAX 4096U /* sums that the page has: those of most events */

struct queued_work {
	struct intern_key
		key; /* paths of the event, of the origin, the two threads and the source */
	struct time_cell work, origin; /* paths, thread, source; count and value of the work */
};

struct queued_works {
	struct intern threads; /* thread, thread of the origin, source */
	struct intern works;
	struct queued_work **shown; /* set by queued_works_choose() */
	u32 shown_count;
};

void queued_works_begin(struct queued_works *works);
void queued_works_clear(struct queued_works *works);
int queued_works_add(struct queued_works *works, const struct time_cell *work,
		     const struct time_cell *origin); /* -ENOMEM */

/* Called once: chooses the sums that the page has. -ENOMEM. */
int queued_works_choose(struct queued_works *works);

#endif
