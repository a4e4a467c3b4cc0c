/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a store has what its hosts say that it has, window by window:
 *
 *   produced = recorded + sum of lost        as the ledger says
 *   recorded = stored + missing - surplus    as the events are, each key once
 *
 * Events that are there twice are not merged yet: a reader has to ask with FINAL.
 */
#ifndef LIB_STORE_READ_LEDGER_CHECK_H
#define LIB_STORE_READ_LEDGER_CHECK_H

#include "store/wire/clickhouse.h"

/* Windows of a host that follow each other in the answer. */
struct window_range {
	char *host;
	u32 from, to; /* starts of the first and of the last one */
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
	struct window_ranges different; /* stored is not recorded */
	struct window_ranges repeated;	/* there more than once */
};

/* Adds what one server has, of windows that began at `from` or later, seconds since the epoch;
 * `now` bounds how much is asked for at once. On failure what was added before stays. */
int ledger_check_add(struct clickhouse *server, u32 from, u32 now, struct ledger_check *check,
		     struct stackmap_error *error);
void ledger_check_clear(struct ledger_check *check);

#endif
