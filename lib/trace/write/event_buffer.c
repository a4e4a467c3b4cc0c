/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buffers that grow to one block's worth of events; they are emptied before they would grow
 * further. */
#include "trace/write/event_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "trace_file.h"

#define TRACE_EVENTS_BUFFERED (1U << 20)
#define EVENTS_MIN 1024U
#define ROOM_MIN 32U /* a CPU without events costs little */

void event_buffers_init(struct event_buffers *buffers, u32 cpus)
{
	u32 share = TRACE_EVENTS_BUFFERED / (cpus ? cpus : 1);

	memset(buffers, 0, sizeof(*buffers));
	buffers->most = share < EVENTS_MIN ? EVENTS_MIN : share;
	if (buffers->most > TRACE_BLOCK_EVENTS_MAX)
		buffers->most = TRACE_BLOCK_EVENTS_MAX;
}

static bool add_cpus(struct event_buffers *buffers, u32 cpus)
{
	struct event_buffer *larger = reallocarray(buffers->cpu, cpus, sizeof(*larger));

	if (!larger)
		return false;
	memset(larger + buffers->cpus, 0, (cpus - buffers->cpus) * sizeof(*larger));
	buffers->cpu = larger;
	buffers->cpus = cpus;
	return true;
}

static bool grow(struct event_buffer *buffer, u32 most)
{
	u32 room = buffer->room ? buffer->room * 2 : ROOM_MIN;
	struct trace_event *events;

	if (room > most)
		room = most;
	events = reallocarray(buffer->events, room, sizeof(*events));
	if (!events)
		return false;
	buffer->events = events;
	buffer->room = room;
	return true;
}

struct event_buffer *event_buffers_get(struct event_buffers *buffers, u32 cpu)
{
	struct event_buffer *buffer;

	if (cpu >= buffers->cpus && !add_cpus(buffers, cpu + 1))
		return NULL;
	buffer = &buffers->cpu[cpu];
	if (buffer->count == buffer->room && !grow(buffer, buffers->most))
		return NULL;
	return buffer;
}

void event_buffers_free(struct event_buffers *buffers)
{
	for (u32 i = 0; i < buffers->cpus; i++)
		free(buffers->cpu[i].events);
	free(buffers->cpu);
	memset(buffers, 0, sizeof(*buffers));
}
