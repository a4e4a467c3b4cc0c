/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of the objects that are alive when a recording ends, such as allocations without a free
 * (-e alive:..., bpf/event/answer.h). The reader holds back each event at which an object begins.
 * When twice as many events are held as objects were alive at the last check, and at the end, the
 * reader reads the BPF map `alive`, which has all objects that are alive, and drops the held events
 * of objects that have ended. Dropped events count as not produced. The events that are left are
 * written at the end.
 */
#ifndef LIB_CAPTURE_ALIVE_EVENTS_H
#define LIB_CAPTURE_ALIVE_EVENTS_H

#include "capture/drain/recording.h"

struct stack_ref;

/* Sets recording->alive. -ENOMEM. */
int alive_events_create(struct recording *recording);
void alive_events_free(struct recording *recording);

/* True if the events of the source number `kind` are held back. */
bool alive_events_are_kept_of_source(const struct recording *recording, u32 kind);

/* Holds an event back, whose value is the serial number of the object that begins. -ENOMEM, or an
 * error of the map. */
int alive_events_keep_event(struct recording *recording, const struct trace_event *event,
			    const struct stack_ref *user);

/* Writes the events of all objects that are alive. Called when the BPF programs are detached. */
int alive_events_write(struct recording *recording);

#endif
