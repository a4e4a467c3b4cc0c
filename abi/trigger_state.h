/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Triggers: events that set something off. A program notes a trigger at the event, before the event
 * gets a slot, so that no trigger is missed where a ring is full or slots are overwritten. The
 * value of the map `triggers` is shared with user space:
 *
 *   TRIGGER_WATCHED   the program stores the time of the event; a process compares it with the time
 *                     that it has seen (lib/session/trigger.h)
 *   TRIGGER_STOPS     the first such event stops the instance: events later than
 *                     stop_time + delay are not produced. Each event compares its own time, so the
 *                     kernel needs no timer, and the stop is exact in every context
 *
 * User space sets marks, the delay and stop_realtime, and arms the instance again by stop_kind = 0,
 * then stop_time = 0. Programs do not write `stop_time` while it is not 0.
 */
#ifndef STACKMAP_ABI_TRIGGER_STATE_H
#define STACKMAP_ABI_TRIGGER_STATE_H

#include "ring.h"
#include "scalar.h"

enum trigger_mark { TRIGGER_WATCHED = 1, TRIGGER_STOPS = 2 };

/* The triggers of one kind of event. */
struct trigger_row {
	u64 marks; /* enum trigger_mark, as bits */
	/* time of the latest event of the kind, if watched: CLOCK_MONOTONIC, ns; 0: none */
	u64 time;
};

struct trigger_state {
	u64 delay;     /* time from the event to the stop, ns */
	u64 stop_time; /* time of the event that stops the instance: CLOCK_MONOTONIC, ns; 0: none */
	u64 stop_kind; /* kind of the event that stops the instance, + 1; 0: not written yet */
	/* stop_time as ns since the epoch, once a process has asked; 0: not yet */
	u64 stop_realtime;
	struct trigger_row row[KIND_SOURCES];
};
ABI_OFFSET(struct trigger_state, row, 32);

#endif
