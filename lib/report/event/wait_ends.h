/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both ends of a wait, with their stacks: the thread that slept, and the thread or interrupt that
 * woke the thread. Equal ends are one object. An interrupt is named after its kind and the kernel
 * function that it had to call, which its stack tells.
 */
#ifndef LIB_REPORT_WAIT_ENDS_H
#define LIB_REPORT_WAIT_ENDS_H

#include "report/event/event_paths.h"
#include "wakeups.h"

/* One end of a wait. */
struct wait_end {
	char comm[16];
	const char *interrupt;		   /* "timer", "softirq"...; NULL: a thread */
	const char *function;		   /* the kernel function that the interrupt called */
	const struct profile_path *kernel; /* NULL: the end is not known */
	const struct profile_path *user;
	bool holds_lock; /* the thread has not woken the sleeper, and holds its lock */
};

/* A pair, or a step of a chain. */
struct wait_pair {
	struct wait_end sleeper, waker;
	u64 count;
	u64 total;			   /* ns, of which */
	u64 until_run;			   /* the sleeper was woken already, but had no CPU */
	u64 most;			   /* ns; the longest wait, */
	const struct trace_event *longest; /* and its event */
	u32 depth;	 /* 0: a pair; else a step of the chain of the pair above */
	bool is_partial; /* the chain below has more waits than are followed */
	bool is_cycle;	 /* the lock's holder waits for the thread of a pair above: a deadlock */
};

struct wait_ends;

/* All arguments must outlive the ends. -ENOMEM. */
int wait_ends_create(struct trace_reader *reader, struct frame_names *names,
		     struct event_paths *paths, const struct wakeups *wakeups,
		     struct wait_ends **out);
void wait_ends_free(struct wait_ends **ends);

/* The end that an event tells of; NULL: the end that is not known. NULL without memory. */
const struct wait_end *wait_ends_find(struct wait_ends *ends, const struct trace_event *event);

/* Adds `ns` of a wait, of which `other` is the event of the other end or NULL. */
void wait_pair_add(struct wait_pair *pair, const struct trace_event *wait,
		   const struct trace_event *other, u64 ns);

#endif
