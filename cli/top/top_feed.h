/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the events of `top` come from, window after window: an instance of its own, which ends with
 * it; a drain instance, whose reader it is meanwhile; or a flight recorder, of which it looks at
 * what came since the last look, and which keeps all it has. Or a store, of which it shows the last
 * minutes (store_feed.h).
 *
 * A window holds as many events as are quickly worked off, because meanwhile nobody empties the
 * rings; the stack map of an own instance is emptied now and then. So neither time nor load lets
 * memory grow.
 */
#ifndef CLI_TOP_FEED_H
#define CLI_TOP_FEED_H

#include "capture/live_window.h"
#include "capture/recording_info.h"
#include "recording/record_target.h"
#include "report/event/event_filter.h"
#include "stack_table.h"
#include "top/store_feed.h"

struct folder;

struct top_feed {
	const char *instance; /* NULL: our own */
	char *command_line;
	struct record_target target;
	struct folder *folder;
	struct capture *capture;
	bool flight;
	struct recording_info info;
	struct live_window window;  /* of a drain: open at all times */
	struct trace_ledger ledger; /* of all windows; of a flight recorder, as it tells it */
	struct table_stat stacks;   /* of an instance's map, at the last window */
	u64 seen_until;		    /* flight: ns, the last event that was shown */
	u64 next_reset;		    /* ms */
	struct store_feed store;    /* instead of a capture */
};

/* Events come from here on; privileges are given up. Exit status; what is wrong was said. `values`
 * must outlive the feed, which is to be closed in any case. */
int top_feed_open(struct top_feed *feed, const struct record_values *values,
		  const struct from_values *from);
void top_feed_close(struct top_feed *feed);

/* One visit to the rings. In how many ms the next is due, at most; 0: the window is to be taken.
 * -errno. */
int top_feed_visit(struct top_feed *feed);

/* What came since the last time; the filter tells it from what was shown before. */
int top_feed_take(struct top_feed *feed, struct trace_reader **reader, struct event_filter *filter,
		  struct stackmap_error *error);

/* No more events will come: the instance, or all the processes that were followed, ended. */
bool top_feed_ended(const struct top_feed *feed);

#endif
