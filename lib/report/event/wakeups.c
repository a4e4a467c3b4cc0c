/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both events of all waits by their begin, in one sorted array. */
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
	u32 waiter, waker; /* kinds of events; NO_KIND: there is none */
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

static bool is_waiter(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->waiter;
}

bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->waker;
}

static int collect(void *arg, const struct trace_event *event)
{
	struct wakeups *wakeups = arg;

	if (!is_waiter(wakeups, event) && !wakeups_is_waker(wakeups, event))
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

/* What can be read of a damaged file is joined. In a summary nothing is: where an event stands for
 * many waits, it has their sum, and none of their begins. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out)
{
	struct wakeups *wakeups = calloc(1, sizeof(*wakeups));
	int result = 0;

	if (!wakeups)
		return -ENOMEM;
	wakeups->waiter = kind_named(reader, "offcpu-time");
	wakeups->waker = kind_named(reader, "offcpu-waker");
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

/* The first of those that have this begin, or one behind the last. */
static const struct wait_end *find(const struct wakeups *wakeups, u64 since)
{
	return wakeups->ends + bisect(wakeups->count, i, wakeups->ends[i].since < since);
}

bool wakeups_other(const struct wakeups *wakeups, const struct trace_event *event, u32 *tid,
		   u64 *time)
{
	u64 since = event->time - event->value;
	const struct wait_end *end = wakeups->ends + wakeups->count, *other = NULL;
	u32 all = 0;

	if (!is_waiter(wakeups, event) && !wakeups_is_waker(wakeups, event))
		return false;
	for (const struct wait_end *each = find(wakeups, since); each < end && each->since == since;
	     each++, all++)
		if (each->kind != event->kind)
			other = each;
	if (all != 2 || !other)
		return false;
	*tid = other->tid;
	*time = other->time;
	return true;
}
