/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of what is alive (bpf/event/answer.h). The reader holds each event at which something
 * begins. When it holds twice as many as were alive at the last look, and at the end, it reads the
 * map `alive` and drops those whose thing has ended: they count as not produced. The others are
 * written at the end.
 */
#ifndef LIB_CAPTURE_ALIVE_EVENTS_H
#define LIB_CAPTURE_ALIVE_EVENTS_H

#include "capture/drain/recording.h"

struct stack_ref;

/* Sets recording->alive. -ENOMEM. */
int alive_events_create(struct recording *recording);
void alive_events_free(struct recording *recording);

/* True if the events of a source are held. */
bool alive_events_want(const struct recording *recording, u32 kind);

/* Takes an event, whose value is the serial number of its thing. -ENOMEM, or an error of the map.
 */
int alive_events_hold(struct recording *recording, const struct trace_event *event,
		      const struct stack_ref *user);

/* Writes the events of all that is alive. Call when the programs have ended. */
int alive_events_finish(struct recording *recording);

#endif
