/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks window by window whether a store has the events that its hosts report:
 *
 *   produced = recorded + sum of lost        as the ledger says
 *   recorded = stored + missing - surplus    as the rows of `events` say, each key once
 *
 * Repeated events are not merged yet: readers must use FINAL.
 */
#ifndef LIB_STORE_READ_LEDGER_CHECK_H
#define LIB_STORE_READ_LEDGER_CHECK_H

#include "store/wire/clickhouse.h"

/*
 * Consecutive windows of a host, in the answer of the server, that all have missing events, or all
 * have surplus events.
 */
struct window_range {
	char *host;
	u32 from, to; /* start times of the first and of the last window */
	u32 windows;
	u64 recorded, stored;
};

struct window_ranges {
	struct window_range *ranges;
	u32 count, room;
};

struct lost_cause {
	char *name;
	u64 events;
};

struct ledger_check {
	u64 hosts, windows;
	u64 produced, recorded;
	u64 missing, surplus;
	struct lost_cause *causes;
	u32 cause_count, cause_room;
	struct window_ranges different; /* windows whose `stored` differs from `recorded` */
	/* windows with events that the server has stored more than once */
	struct window_ranges repeated;
};

/*
 * Adds to *check the windows of one server that began at `from` or later (seconds since the epoch),
 * up to `now`. After a failure *check has the windows that were read before the failure.
 */
int ledger_check_add(struct clickhouse *server, u32 from, u32 now, struct ledger_check *check,
		     struct stackmap_error *error);
void ledger_check_clear(struct ledger_check *check);

#endif
