/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits by both ends: equal stacks of the thread that waited, and equal stacks of the thread or
 * interrupt that ended the wait, are one pair. The sums of all pairs are the sums of all waits that
 * pass the filter. A wait whose waker is not recorded has a pair without a waker: the wait goes on
 * when the recording ends, or the waker's event was lost.
 *
 * The chain of a wait is what the waker itself had waited for meanwhile. A sleeping thread cannot
 * wake another thread, so the waits of the waker follow each other inside the sleeper's wait. Each
 * wait of the waker has a waker and a chain of its own:
 *
 *   sleeper  |------------------------ waits ------------------------|
 *   waker        |--- waits ---|  runs  |------- waits -------|  runs ^ wakes the sleeper
 *   its waker      |--- waits ---| ^ wakes it                 ^ an interrupt wakes it
 *
 * The times of a step are cut to the wait that the step explains, so they add up to that wait's
 * time at most; the rest is the time in which the waker was running or runnable.
 */
#ifndef LIB_REPORT_WAIT_PAIRS_H
#define LIB_REPORT_WAIT_PAIRS_H

#include "report/event/event_filter.h"
#include "wait_ends.h"

#define WAIT_CHAIN_MAX 32U

struct wait_pairs {
	/* pairs with most time first, pairs of idle sleepers last; each pair is followed by the
	 * steps of its chain */
	const struct wait_pair *const *rows;
	u32 count;
	u64 waits, total;	    /* number of all waits, and sum of their ns */
	u64 idle, idle_total;	    /* number of waits of idle sleepers, and sum of their ns */
	u64 unknown, unknown_total; /* number of waits without a known waker, and sum of their ns */
};

/*
 * `idle`: as in wait_ends_create(). `chain`: the most steps of a chain. A pair has the chain of its
 * longest wait; only the first `chained` pairs have chains. `paths` must outlive the pairs.
 * -ENODATA: the recording has no wakers; -ENOMEM.
 */
int wait_pairs_create(struct trace_reader *reader, const struct event_filter *filter,
		      const struct string_list *idle, struct frame_names *names,
		      struct event_paths *paths, u32 chain, u64 chained, struct wait_pairs **out);
void wait_pairs_free(struct wait_pairs **pairs);

#endif
