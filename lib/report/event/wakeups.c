/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of waiters and wakers in one array, sorted by the begin of the wait. A wait comes
 * before its waker. */
#include "report/event/wakeups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"
#include "trace/block/source_name.h"

struct wakeups {
	u32 waiter, waker, holder; /* kinds of events; TRACE_NO_SOURCE: not in the recording */
	const struct trace_source *sources;
	u64 recording_begin; /* ns: waits of the waiter's kind that began by then, */
	u64 times_begin;     /* and those of the account of time */
	struct trace_event *events;
	u32 count, room;
};

bool wakeups_is_wait(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->waiter;
}

bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->waker;
}

bool wakeups_is_holder(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->holder;
}

static bool is_end(const struct wakeups *wakeups, const struct trace_event *event)
{
	return wakeups_is_wait(wakeups, event) || wakeups_is_waker(wakeups, event) ||
	       wakeups_is_holder(wakeups, event);
}

static int collect(void *arg, const struct trace_event *event)
{
	struct wakeups *wakeups = arg;

	if (event->is_counted || !is_end(wakeups, event))
		return 0;
	if (array_make_room(wakeups->events, wakeups->count, wakeups->room))
		return -ENOMEM;
	wakeups->events[wakeups->count++] = *event;
	return 0;
}

static int by_begin(const void *left, const void *right)
{
	const struct trace_event *a = left, *b = right;

	return order(wait_begin(a), wait_begin(b)) ?: order(b->time, a->time);
}

/* Joins the readable events of a damaged file. Events of a summary are not joined: an event that
 * stands for many waits has the sum of their times, and no begin. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out)
{
	struct wakeups *wakeups = calloc(1, sizeof(*wakeups));
	int result = 0;
	const struct thread_account *accounts;
	u32 count;
	u64 begin;

	if (!wakeups)
		return -ENOMEM;
	wakeups->waiter = trace_reader_source_named(reader, "offcpu-time");
	wakeups->waker = trace_reader_source_named(reader, "offcpu-waker");
	wakeups->holder = trace_reader_source_named(reader, "offcpu-holder");
	trace_reader_sources(reader, &wakeups->sources);
	wakeups->recording_begin = trace_reader_info(reader)->start_monotonic;
	/* All accounts of threads that were there begin at the same time, and before any other. */
	count = trace_reader_times(reader, &accounts);
	begin = count ? UINT64_MAX : 0;
	for (u32 i = 0; i < count; i++)
		if (accounts[i].begin < begin)
			begin = accounts[i].begin;
	wakeups->times_begin = begin;
	if (wakeups->waker != TRACE_NO_SOURCE && !trace_reader_info(reader)->is_summary)
		result = trace_reader_events(reader, collect, wakeups, NULL);
	if (wakeups->count)
		qsort(wakeups->events, wakeups->count, sizeof(*wakeups->events), by_begin);
	*out = wakeups;
	if (result == -ENOMEM)
		wakeups_free(out);
	return result == -ENOMEM ? result : 0;
}

void wakeups_free(struct wakeups **wakeups)
{
	if (*wakeups)
		free((*wakeups)->events);
	free(*wakeups);
	*wakeups = NULL;
}

bool wakeups_is_since_before(const struct wakeups *wakeups, const struct trace_event *event)
{
	u64 begin = wait_begin(event);

	if (!event_is_single(event))
		return false;
	if (event->kind == wakeups->waiter)
		return begin <= wakeups->recording_begin;
	return trace_source_state(wakeups->sources[event->kind].name) &&
	       begin <= wakeups->times_begin;
}

bool wakeups_has_wakers(const struct wakeups *wakeups)
{
	return wakeups->waker != TRACE_NO_SOURCE;
}

/* A waiter that is woken while its lock's holder is looked for has a holder as well, which does not
 * count. */
const struct trace_event *wakeups_other(const struct wakeups *wakeups,
					const struct trace_event *event)
{
	u64 begin = wait_begin(event);
	const struct trace_event *wait = NULL, *waker = NULL, *holder = NULL, *end;
	u32 waits = 0, wakers = 0, holders = 0;

	if (!is_end(wakeups, event))
		return NULL;
	for (size_t i = bisect(wakeups->count, i, wait_begin(&wakeups->events[i]) < begin);
	     i < wakeups->count && wait_begin(&wakeups->events[i]) == begin; i++) {
		const struct trace_event *each = &wakeups->events[i];

		if (wakeups_is_wait(wakeups, each) && ++waits)
			wait = each;
		else if (wakeups_is_waker(wakeups, each) && ++wakers)
			waker = each;
		else if (++holders)
			holder = each;
	}
	end = wakers ? waker : holder;
	if (waits != 1 || (wakers ?: holders) != 1)
		return NULL;
	if (wakeups_is_wait(wakeups, event))
		return end;
	return event->kind == end->kind ? wait : NULL;
}

u32 wakeups_events(const struct wakeups *wakeups, const struct trace_event **events)
{
	*events = wakeups->events;
	return wakeups->count;
}
