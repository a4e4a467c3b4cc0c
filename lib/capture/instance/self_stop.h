/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that stops itself at an event (abi/trigger_state.h): tells which events stop the
 * instance, and whether such an event has happened. The BPF programs stop the instance; no process
 * has to run for that.
 */
#ifndef LIB_CAPTURE_SELF_STOP_H
#define LIB_CAPTURE_SELF_STOP_H

#include "capture/load/loaded.h"

struct self_stop {
	u64 delay;	  /* ns from the event to the stop */
	u64 time;	  /* CLOCK_MONOTONIC of the event, ns; 0: no such event has happened */
	u64 realtime;	  /* CLOCK_REALTIME of the event, ns */
	const char *name; /* name of the event's source, owned by the source list; "?": not known */
	bool is_over;	  /* true: the delay has passed, so no events are produced any more */
};

void self_stop_read(const struct loaded *loaded, struct self_stop *stop);

/* True if events of this kind stop the instance. */
bool self_stop_is_caused_by_source(const struct loaded *loaded, u32 kind);

/* Lets a stopped instance record again, until the next such event. An instance that has not stopped
 * yet, also during the delay, is left as it is. */
void self_stop_rearm(struct loaded *loaded);

#endif
