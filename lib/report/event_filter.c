/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cheap comparisons come first: a task is only looked up when the filter asks about it. */
#include "event_filter.h"

#include <errno.h>
#include <fnmatch.h>

#include "capture/name_match.h"
#include "error.h"
#include "trace/cgroup_name.h"

static bool matches(const char *glob, const char *name)
{
	return !glob || fnmatch(glob, name, 0) == 0;
}

static int check_cgroup(const struct event_filter *filter, const struct trace_reader *reader,
			struct stackmap_error *error)
{
	const struct trace_cgroup *cgroups;

	if (!filter->cgroup || trace_reader_cgroups(reader, &cgroups))
		return 0;
	return error_set(error, ENOENT,
			 "--cgroup %s: this recording holds no cgroups (made by an older stackmap, "
			 "or where no cgroup2 file system was mounted)",
			 filter->cgroup);
}

static int check_event(const struct event_filter *filter, const struct trace_reader *reader,
		       struct stackmap_error *error)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	struct name_match match;

	if (!filter->event)
		return 0;
	name_match_init(&match, filter->event);
	for (u32 i = 0; i < count; i++)
		name_match_try(&match, sources[i].name);
	if (match.found)
		return 0;
	return error_set(error, ENOENT, "--event %s: not in this recording%s%s%s", filter->event,
			 match.nearest[0] ? "; did you mean " : "", match.nearest,
			 match.nearest[0] ? "?" : "");
}

int event_filter_check(const struct event_filter *filter, const struct trace_reader *reader,
		       struct stackmap_error *error)
{
	return check_event(filter, reader, error) ?: check_cgroup(filter, reader, error);
}

static bool is_in_time(const struct event_filter *filter, u64 time)
{
	return time >= filter->from && (!filter->to || time <= filter->to);
}

/* NULL: a task that is not known, in a cgroup that is not known. */
static bool is_in_cgroup(const struct trace_reader *reader, const struct trace_task *task,
			 const char *cgroup)
{
	char room[TRACE_CGROUP_ROOM];

	return trace_cgroup_is_within(trace_cgroup_name(reader, task ? task->cgroup : 0, room),
				      cgroup);
}

static bool task_passes(const struct event_filter *filter, const struct trace_reader *reader,
			const struct trace_event *event)
{
	const struct trace_task *task;

	if (!filter->comm && !filter->cgroup && filter->pid == FILTER_ANY)
		return true;
	task = trace_reader_task(reader, event->tid, event->time);
	if (filter->cgroup && !is_in_cgroup(reader, task, filter->cgroup))
		return false;
	if (!task)
		return !filter->comm && filter->pid == FILTER_ANY;
	return matches(filter->comm, task->comm) &&
	       (filter->pid == FILTER_ANY || filter->pid == task->tgid);
}

bool event_filter_passes(const struct event_filter *filter, const struct trace_reader *reader,
			 const struct trace_event *event)
{
	const struct trace_source *sources;

	if (!is_in_time(filter, event->time))
		return false;
	if (filter->cpu != FILTER_ANY && filter->cpu != event->cpu)
		return false;
	if (filter->tid != FILTER_ANY && filter->tid != event->tid)
		return false;
	trace_reader_sources(reader, &sources);
	return matches(filter->event, sources[event->kind].name) &&
	       task_passes(filter, reader, event);
}
