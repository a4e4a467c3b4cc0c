/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the events of `top` come from, window after window: programs of its own, which end with it;
 * a drain instance, whose reader it is meanwhile; or a flight recorder, of which it views what came
 * since the last window, and which keeps all it has. Or a store, of which it shows the last minutes
 * (store_feed.h).
 *
 * A window holds as many events as are quickly worked off, because the rings are not emptied
 * meanwhile. So neither time nor load lets memory grow.
 */
#ifndef CLI_TOP_FEED_H
#define CLI_TOP_FEED_H

#include "report/event/event_filter.h"
#include "session/session.h"
#include "stack_table.h"
#include "top/store_feed.h"

struct top_feed {
	struct session_options options;
	struct session *session;
	struct trace_ledger ledger; /* of all windows; of a flight recorder, as it tells it */
	struct table_stat stacks;   /* of an instance's map, at the last window */
	u64 seen_until;		    /* flight: ns, the last event that was shown */
	struct store_feed store;    /* instead of a session */
};

/* Events come from here on, and privileges are dropped. Exit status; errors were printed. `options`
 * must outlive the feed, which is to be closed in any case. */
int top_feed_open(struct top_feed *feed, const struct session_options *options,
		  const struct from_values *from);
void top_feed_close(struct top_feed *feed);

/* As session_visit(). */
int top_feed_visit(struct top_feed *feed, struct stackmap_error *error);

/* A descriptor that is readable when the next visit is due at once; -1: none. */
int top_feed_wake_fd(const struct top_feed *feed);

/* The events since the last window; the filter leaves out those that were shown before. */
int top_feed_take(struct top_feed *feed, struct trace_reader **reader, struct event_filter *filter,
		  struct stackmap_error *error);

/* No more events will come. */
bool top_feed_ended(const struct top_feed *feed);

#endif
