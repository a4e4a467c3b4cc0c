/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The seconds last from the first event to the last of any source and task, so the time in which
 * the filtered tasks sleep counts as well. */
#include "diff_unit.h"

#include <errno.h>
#include <string.h>

#include "error.h"

#define NS_PER_SECOND 1e9

struct count {
	const struct trace_reader *reader;
	const struct trace_source *sources;
	struct event_filter filter;
	const char *source; /* NULL: any source */
	u64 events, first, last;
};

static int add_event(void *arg, const struct trace_event *event)
{
	struct count *count = arg;

	if (count->source && strcmp(count->source, count->sources[event->kind].name) != 0)
		return 0;
	if (!event_filter_passes(&count->filter, count->reader, event))
		return 0;
	if (!count->events)
		count->first = event->time;
	count->events += event_stands_for(event);
	count->last = event->time;
	return 0;
}

int diff_unit_count(const char *per, const struct recording_choice *choice,
		    struct trace_reader *reader, double *units, struct stackmap_error *error)
{
	bool is_time = strcmp(per, UNIT_SECOND) == 0;
	struct count count = {.reader = reader, .source = is_time ? NULL : per};
	int err;

	if (is_time) {
		count.filter.from = choice->filter.from;
		count.filter.to = choice->filter.to;
	} else {
		count.filter = choice->filter;
		count.filter.events = (struct string_list){0};
	}
	trace_reader_sources(reader, &count.sources);
	err = trace_reader_events(reader, add_event, &count, error);
	if (err)
		return err;
	*units =
		is_time ? (double)(count.last - count.first) / NS_PER_SECOND : (double)count.events;
	if (*units > 0)
		return 0;
	return error_set(error, ENOENT, "--per %s: %s has none", per, choice->name);
}
