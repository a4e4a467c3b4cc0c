/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that stops itself: which events stop it, and whether one of them has come
 * (abi/trigger_state.h). No process has to run for that.
 */
#ifndef LIB_CAPTURE_SELF_STOP_H
#define LIB_CAPTURE_SELF_STOP_H

#include "capture/load/loaded.h"

struct self_stop {
	u64 delay;	  /* from the event to the stop, in ns */
	u64 time;	  /* of the event: CLOCK_MONOTONIC, ns; 0: none has come */
	u64 realtime;	  /* the same time since the epoch, in ns */
	const char *name; /* of the event's source; "?": not known. Borrowed from the sources */
	bool is_over;	  /* the delay has passed: events are not produced any more */
};

void self_stop_read(const struct loaded *loaded, struct self_stop *stop);

/* True if events of this kind stop the instance. */
bool self_stop_has(const struct loaded *loaded, u32 kind);

/* Waits for the next such event again. An instance that has not stopped is left as it is, also
 * while the delay passes. */
void self_stop_rearm(struct loaded *loaded);

#endif
