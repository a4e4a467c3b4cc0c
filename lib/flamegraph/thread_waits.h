/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single waits of threads, for the strips of the page: the longest waits of each thread, at most
 * WAITS_MAX in all, so that the page stays small however many waits a recording has. A thread with
 * fewer waits than its share leaves room for the waits of other threads.
 */
#ifndef LIB_FLAMEGRAPH_THREAD_WAITS_H
#define LIB_FLAMEGRAPH_THREAD_WAITS_H

#include <stdbool.h>

#include "flamegraph/stack_tree.h"
#include "flamegraph/time_cells.h"

#define WAITS_MAX 8192U

struct trace_event;

/* Another thread that had a part in a wait, and the thread's stack; `stack` NULL: not known. */
struct wait_side {
	const struct tree_node *stack;
	u32 thread;
};

struct thread_wait {
	u64 begin, length; /* begin and length of the wait, ns */
	u32 thread;	   /* index of the graph_thread that waited */
	u32 user, kernel;  /* ids of the paths of the waiting thread */
	u16 source;
	/* The event of the waker (`other`), of the thread that queued the work that waited
	 * (`origin`), and of the thread that queued the work that woke (`other_origin`). NULL: not
	 * known. The events outlive the waits. */
	const struct trace_event *other, *origin, *other_origin;

	/* Stacks of the wait, in the tree; the owner of the tree sets them when all waits are
	 * added. */
	const struct tree_node *stack;
	struct wait_side waker, queuer, waker_queuer;
};

struct thread_waits {
	struct thread_wait *waits;
	u32 count, room;
	/* true: a wait was in queued work, or queued work ended a wait, and the thread that queued
	 * the work is known; the owner of the tree sets this member */
	bool has_queuers;
};

int thread_waits_add(struct thread_waits *waits, const struct thread_wait *wait); /* -ENOMEM */

/* Drops waits until at most WAITS_MAX are left, and sorts them by thread and begin. */
void thread_waits_finish(struct thread_waits *waits);
void thread_waits_clear(struct thread_waits *waits);

/* Sums of the events in queued work, by their stack and by the thread and stack that queued the
 * work (record --origins). */

/* The page shows this many sums at most: the sums with most events. */
#define QUEUED_WORK_MAX 4096U

struct queued_work {
	struct intern_key key; /* three words: paths of the work; paths of its origin; address of
				  the entry of `threads` that has both threads and the source */
	/* paths, thread and source of the work and of its origin; `work` also has the count and
	 * value of the sum */
	struct time_cell work, origin;
};

struct queued_works {
	/* distinct keys of three: thread of the queued work, thread that queued the work, event
	 * source */
	struct intern threads;
	struct intern works;
	struct queued_work **shown; /* set by queued_works_choose() */
	u32 shown_count;
};

void queued_works_init(struct queued_works *works);
void queued_works_clear(struct queued_works *works);
int queued_works_add(struct queued_works *works, const struct time_cell *work,
		     const struct time_cell *origin); /* -ENOMEM */

/* Chooses the sums that the page shows: those with most events. Called once. -ENOMEM. */
int queued_works_choose(struct queued_works *works);

#endif
