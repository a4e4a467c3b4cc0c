/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins the two events of a wait: the event of the thread that waited, and that of the other end.
 * The other end is the thread or interrupt that woke the thread (offcpu-waker), or the thread that
 * holds the lock for which the thread still waits when the recording ends (offcpu-holder). The two
 * events share no number but the begin of the wait: each event has its time, and as its value the
 * duration of the wait until then. If more than two events have the same begin, by chance, none of
 * them is joined.
 */
#ifndef LIB_REPORT_WAKEUPS_H
#define LIB_REPORT_WAKEUPS_H

#include "trace/read/reader.h"

struct wakeups;

/* Reads all events if the recording has wakers. -ENOMEM. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out);
void wakeups_free(struct wakeups **wakeups);

/* Whether the recording has wakers: it was made with --wakers. */
bool wakeups_has_wakers(const struct wakeups *wakeups);

bool wakeups_is_wait(const struct wakeups *wakeups, const struct trace_event *event);
bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event);
bool wakeups_is_holder(const struct wakeups *wakeups, const struct trace_event *event);

/* The event at the other end of the wait. NULL: not known. */
const struct trace_event *wakeups_other(const struct wakeups *wakeups,
					const struct trace_event *event);

/* The events of both ends by the begin of the wait; a recording without wakers has none. */
u32 wakeups_events(const struct wakeups *wakeups, const struct trace_event **events);

/* Whether a wait began before the recording: its value is the time since then. */
bool wakeups_is_since_before(const struct wakeups *wakeups, const struct trace_event *event);

static inline u64 wait_begin(const struct trace_event *event)
{
	return event->time - event->value;
}

#endif
