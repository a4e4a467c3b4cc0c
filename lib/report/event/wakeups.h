/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both ends of a wait: the event of whoever waited, and that of whoever woke it. The two have no
 * number in common, but the same begin: each has its time, and as its value how long the wait had
 * taken by then. Where more than two events have one begin, by chance, none of them is joined.
 */
#ifndef LIB_REPORT_WAKEUPS_H
#define LIB_REPORT_WAKEUPS_H

#include "trace/read/reader.h"

struct wakeups;

/* Goes through all events if the recording has wakers. -ENOMEM. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out);
void wakeups_free(struct wakeups **wakeups);

bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event);

/* The task at the other end: its thread id, and the time of its event. False: it is not known. */
bool wakeups_other(const struct wakeups *wakeups, const struct trace_event *event, u32 *tid,
		   u64 *time);

#endif
