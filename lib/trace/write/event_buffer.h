/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events waiting for their block, by CPU. All CPUs together hold about TRACE_EVENTS_BUFFERED, so
 * that neither writer nor reader needs more memory on a machine with many CPUs: blocks get shorter
 * there instead.
 */
#ifndef LIB_TRACE_EVENT_BUFFER_H
#define LIB_TRACE_EVENT_BUFFER_H

#include "trace/event.h"

struct event_buffer {
	struct trace_event *events;
	u32 count;
	u32 room;
};

struct event_buffers {
	struct event_buffer *cpu; /* by CPU number */
	u32 cpus;
	u32 most; /* events of one buffer */
};

/* `cpus` is what to expect; more are taken as they come. */
void event_buffers_init(struct event_buffers *buffers, u32 cpus);
/* The buffer of the event's CPU, which has then room for it; NULL without memory. */
struct event_buffer *event_buffers_get(struct event_buffers *buffers, u32 cpu);
void event_buffers_free(struct event_buffers *buffers);

#endif
