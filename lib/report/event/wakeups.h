/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins the two events of a wait: the event of the thread that waited, and that of the thread that
 * woke it. The two share no number but the begin of the wait: each event has its time, and as its
 * value the duration of the wait until then. If more than two events have the same begin, by
 * chance, none of them is joined.
 */
#ifndef LIB_REPORT_WAKEUPS_H
#define LIB_REPORT_WAKEUPS_H

#include "trace/read/reader.h"

struct wakeups;

/* Reads all events if the recording has wakers. -ENOMEM. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out);
void wakeups_free(struct wakeups **wakeups);

bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event);

/* The thread id at the other end of the wait, and the time of its event. False: unknown. */
bool wakeups_other(const struct wakeups *wakeups, const struct trace_event *event, u32 *tid,
		   u64 *time);

/* Whether a wait began before the recording: its value is the time since then. */
bool wakeups_is_since_before(const struct wakeups *wakeups, const struct trace_event *event);

#endif
