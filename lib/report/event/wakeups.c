/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of waiters and wakers in one array, sorted by the begin of the wait. */
#include "report/event/wakeups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bisect.h"

#define NO_KIND UINT32_MAX

struct wait_end {
	u64 since;
	u64 time;
	u32 tid;
	u32 kind;
};

struct wakeups {
	u32 waiter, waker; /* kinds of events; NO_KIND: not in the recording */
	const struct trace_source *sources;
	u64 recording_begin; /* ns: waits of the waiter's kind that began by then, */
	u64 times_begin;     /* and those of the account of time */
	struct wait_end *ends;
	size_t count, room;
};

static u32 kind_named(const struct trace_reader *reader, const char *name)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	for (u32 i = 0; i < count; i++)
		if (!strcmp(sources[i].name, name))
			return i;
	return NO_KIND;
}

bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->waker;
}

/* All accounts of threads that were there begin at the same time, and before any other. */
static u64 begin_of_times(const struct trace_reader *reader)
{
	const struct thread_account *accounts;
	u32 count = trace_reader_times(reader, &accounts);
	u64 begin = count ? UINT64_MAX : 0;

	for (u32 i = 0; i < count; i++)
		if (accounts[i].begin < begin)
			begin = accounts[i].begin;
	return begin;
}

static int collect(void *arg, const struct trace_event *event)
{
	struct wakeups *wakeups = arg;

	if (event->kind != wakeups->waiter && !wakeups_is_waker(wakeups, event))
		return 0;
	if (array_make_room(wakeups->ends, wakeups->count, wakeups->room))
		return -ENOMEM;
	wakeups->ends[wakeups->count++] = (struct wait_end){.since = event->time - event->value,
							    .time = event->time,
							    .tid = event->tid,
							    .kind = event->kind};
	return 0;
}

static int by_begin(const void *left, const void *right)
{
	const struct wait_end *a = left, *b = right;

	return a->since < b->since ? -1 : a->since > b->since;
}

/* Joins the readable events of a damaged file. Events of a summary are not joined: an event that
 * stands for many waits has the sum of their times, and no begin. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out)
{
	struct wakeups *wakeups = calloc(1, sizeof(*wakeups));
	int result = 0;

	if (!wakeups)
		return -ENOMEM;
	wakeups->waiter = kind_named(reader, "offcpu-time");
	wakeups->waker = kind_named(reader, "offcpu-waker");
	trace_reader_sources(reader, &wakeups->sources);
	wakeups->recording_begin = trace_reader_info(reader)->start_monotonic;
	wakeups->times_begin = begin_of_times(reader);
	if (wakeups->waker != NO_KIND && !trace_reader_info(reader)->is_summary)
		result = trace_reader_events(reader, collect, wakeups, NULL);
	if (wakeups->count)
		qsort(wakeups->ends, wakeups->count, sizeof(*wakeups->ends), by_begin);
	*out = wakeups;
	if (result == -ENOMEM)
		wakeups_free(out);
	return result == -ENOMEM ? result : 0;
}

void wakeups_free(struct wakeups **wakeups)
{
	if (*wakeups)
		free((*wakeups)->ends);
	free(*wakeups);
	*wakeups = NULL;
}

bool wakeups_is_since_before(const struct wakeups *wakeups, const struct trace_event *event)
{
	u64 begin = event->time - event->value;

	if (event->repeats)
		return false;
	if (event->kind == wakeups->waiter)
		return begin <= wakeups->recording_begin;
	return !strncmp(wakeups->sources[event->kind].name, "time:", strlen("time:")) &&
	       begin <= wakeups->times_begin;
}

bool wakeups_other(const struct wakeups *wakeups, const struct trace_event *event, u32 *tid,
		   u64 *time)
{
	u64 since = event->time - event->value;
	const struct wait_end *end = wakeups->ends + wakeups->count, *other = NULL;
	const struct wait_end *first;
	u32 all = 0;

	if (event->kind != wakeups->waiter && !wakeups_is_waker(wakeups, event))
		return false;
	first = wakeups->ends + bisect(wakeups->count, i, wakeups->ends[i].since < since);
	for (const struct wait_end *each = first; each < end && each->since == since; each++, all++)
		if (each->kind != event->kind)
			other = each;
	if (all != 2 || !other)
		return false;
	*tid = other->tid;
	*time = other->time;
	return true;
}
