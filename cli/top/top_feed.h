/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The source of the events of `top`, window after window: programs of its own, which end with
 * `top`; a drain instance, which `top` reads; a flight recorder, whose events since the last window
 * are shown and stay in the recorder; or the last minutes of a store.
 *
 * The rings are not emptied while a window is shown. A window therefore holds a limited number of
 * events, which are counted quickly, and memory grows neither with time nor with load.
 */
#ifndef CLI_TOP_FEED_H
#define CLI_TOP_FEED_H

#include "report/event/event_filter.h"
#include "session/session.h"
#include "session/session_options.h"
#include "stack_table.h"
#include "view/from.h"

/* The last minutes of a store, which are read anew at every refresh. */
struct store_feed {
	const struct from_values *values; /* NULL: no store is shown */
	struct from_choice choice;
	const char *cgroup;
	u64 seconds;		/* length of the time that is shown */
	struct text_set events; /* by kind */
};

struct top_feed {
	struct session_options options;
	struct session *session;
	struct trace_ledger ledger; /* sum over all windows; flight: the recorder's own ledger */
	struct table_stat stacks;   /* of an instance's map, at the last window */
	u64 seen_until;		    /* flight: ns, the last event that was shown */
	struct store_feed store;    /* instead of a session */
};

/* Starts the events and drops privileges. Exit status; errors were printed. `options` must outlive
 * the feed. The caller closes the feed in any case. */
int top_feed_open(struct top_feed *feed, const struct session_options *options,
		  const struct from_values *from);

/* Exit status: EXIT_FAILED if a server of the store did not answer the last refresh. */
int top_feed_close(struct top_feed *feed);

/* As session_visit(). */
int top_feed_visit(struct top_feed *feed, struct stackmap_error *error);

/* A descriptor that is readable when the next visit is due at once; -1: none. */
int top_feed_wake_fd(const struct top_feed *feed);

/* Takes the events since the last window; the filter leaves out events that were shown before. */
int top_feed_take(struct top_feed *feed, struct trace_reader **reader, struct event_filter *filter,
		  struct stackmap_error *error);

/* No more events will come. */
bool top_feed_ended(const struct top_feed *feed);

#endif
