/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cheap comparisons come first. The task of an event is only looked up if the filter needs it. */
#include "event_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "comm_glob.h"
#include "error.h"
#include "name_match.h"
#include "report/name/process_attributes.h"
#include "trace/read/names.h"

static bool event_name_matches(const char *glob, const char *name)
{
	return fnmatch(glob, name, 0) == 0;
}

static bool name_matches_any(const struct string_list *globs, const char *name,
			     bool (*matches)(const char *glob, const char *name))
{
	for (size_t i = 0; i < globs->count; i++)
		if (matches(globs->items[i], name))
			return true;
	return !globs->count;
}

static bool list_allows_number(const struct number_list *list, u64 number)
{
	return !list->count || number_list_has(list, number);
}

static int check_event_name(const char *event, const struct trace_reader *reader,
			    struct stackmap_error *error)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	struct name_match match;

	name_match_init(&match, event);
	for (u32 i = 0; i < count; i++)
		name_match_compare_name(&match, sources[i].name);
	if (match.found)
		return 0;
	return error_set(error, ENOENT, "--event %s: not in this recording%s%s%s", event,
			 match.nearest[0] ? "; did you mean " : "", match.nearest,
			 match.nearest[0] ? "?" : "");
}

static int check_hex_ids(const char *option, const struct string_list *ids, size_t digits,
			 struct stackmap_error *error)
{
	for (size_t i = 0; i < ids->count; i++) {
		const char *id = ids->items[i];
		size_t length = strspn(id, "0123456789abcdefABCDEF");

		if (!length || id[length] || length > digits)
			return error_set(error, EINVAL,
					 "--%s %s: must be hexadecimal digits, at most %zu", option,
					 id, digits);
	}
	return 0;
}

int event_filter_check_syntax(const struct event_filter *filter, struct stackmap_error *error)
{
	for (size_t i = 0; i < filter->attributes.count; i++) {
		const char *text = filter->attributes.items[i];

		if (*text == '=' || !strchr(text, '='))
			return error_set(error, EINVAL,
					 "--attribute %s: must be NAME=VALUE, such as "
					 "service.name=shop",
					 text);
	}
	return check_hex_ids("trace", &filter->traces, 32, error)
		       ?: check_hex_ids("span", &filter->spans, 16, error);
}

void event_filter_end_use(const struct event_filter *filter)
{
	if (filter->use)
		kept_process_clear(&filter->use->kept);
}

int event_filter_check(const struct event_filter *filter, const struct trace_reader *reader,
		       struct stackmap_error *error)
{
	const struct trace_process *processes;
	const struct trace_cgroup *cgroups;
	int err = 0;

	event_filter_end_use(filter);
	if (filter->use)
		memset(filter->use->attributes, 0, sizeof(filter->use->attributes));
	for (size_t i = 0; i < filter->events.count && !err; i++)
		err = check_event_name(filter->events.items[i], reader, error);
	if (!err && filter->cgroups.count && !trace_reader_cgroups(reader, &cgroups))
		err = error_set(error, ENOENT,
				"--cgroup %s: this recording holds no cgroups (made by an older "
				"stackmap, or where no cgroup2 file system was mounted)",
				filter->cgroups.items[0]);
	err = err ?: event_filter_check_syntax(filter, error);
	if (!err && filter->attributes.count && !trace_reader_processes(reader, &processes))
		err = error_set(
			error, ENOENT,
			"--attribute %s: this recording has no attributes of processes; record "
			"--trace-ids has those that are published",
			filter->attributes.items[0]);
	if (!err && (filter->traces.count || filter->spans.count) &&
	    !trace_reader_info(reader)->has_contexts)
		err = error_set(error, ENOENT,
				"--%s %s: this recording has no trace ids; record --trace-ids has",
				filter->traces.count ? "trace" : "span",
				(filter->traces.count ? filter->traces : filter->spans).items[0]);
	return err;
}

/* The path of a cgroup as in the recording: without the directory where systemd mounts the
 * hierarchy. */
static const char *skip_mount_point_in_cgroup_path(const char *path)
{
	static const char *const mounts[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		size_t length = strlen(mounts[i]);

		if (strncmp(path, mounts[i], length) || (path[length] && path[length] != '/'))
			continue;
		return path[length] ? path + length : "/";
	}
	return path;
}

/* A task that is NULL is unknown, and so is its cgroup. */
static bool is_task_in_cgroups(const struct string_list *cgroups, const struct trace_reader *reader,
			       const struct trace_task *task)
{
	char room[TRACE_CGROUP_ROOM];
	const char *name = trace_cgroup_name(reader, task ? task->cgroup : 0, room);

	for (size_t i = 0; i < cgroups->count; i++)
		if (trace_cgroup_is_within(name,
					   skip_mount_point_in_cgroup_path(cgroups->items[i])))
			return true;
	return false;
}

bool event_filter_passes_thread(const struct event_filter *filter,
				const struct trace_reader *reader, u32 tid, u64 time)
{
	const struct trace_task *task;

	if (!list_allows_number(&filter->tids, tid))
		return false;
	if (!filter->comms.count && !filter->cgroups.count && !filter->pids.count)
		return true;
	task = trace_reader_task(reader, tid, time);
	if (filter->cgroups.count && !is_task_in_cgroups(&filter->cgroups, reader, task))
		return false;
	if (!task)
		return !filter->comms.count && !filter->pids.count;
	return name_matches_any(&filter->comms, task->comm, comm_glob_matches) &&
	       list_allows_number(&filter->pids, task->tgid);
}

static bool id_begins_with_any(const struct string_list *ids, const char *name)
{
	for (size_t i = 0; i < ids->count; i++)
		if (!strncasecmp(ids->items[i], name, strlen(ids->items[i])))
			return true;
	return !ids->count;
}

/* True if one of the globs that the filter has for the name of this item matches the value. */
static bool attribute_matches(const struct string_list *wanted, size_t item,
			      const struct process_attributes *published)
{
	const char *text = wanted->items[item];
	size_t length = (size_t)(strchr(text, '=') - text);
	char name[PROCESS_TEXT_MAX + 1];
	const char *value;

	if (length >= sizeof(name))
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	value = process_attributes_find(published, name);
	for (size_t i = 0; value && i < wanted->count; i++)
		if (!strncmp(wanted->items[i], text, length + 1) &&
		    !fnmatch(wanted->items[i] + length + 1, value, 0))
			return true;
	return false;
}

static bool attributes_match(const struct event_filter *filter, const struct trace_reader *reader,
			     struct attribute_numbers from)
{
	struct kept_process alone = {};
	struct kept_process *kept = filter->use ? &filter->use->kept : &alone;
	struct process_attributes published;
	bool passes = !event_attributes_read(kept, reader, from, &published);

	for (size_t i = 0; i < filter->attributes.count && passes; i++)
		passes = attribute_matches(&filter->attributes, i, &published);
	process_attributes_clear(&published);
	kept_process_clear(&alone);
	return passes;
}

/* Tests the attributes that the event's process and thread publish. An event without attributes
 * does not pass. */
static bool event_has_attributes(const struct event_filter *filter,
				 const struct trace_reader *reader, const struct trace_event *event)
{
	const struct trace_task *task = trace_reader_task(reader, event->tid, event->time);
	struct attribute_numbers from = trace_reader_attribute_numbers(reader, event, task);
	struct event_filter_use *use = filter->use;
	size_t slot = 0;
	bool passes;

	if (!from.process)
		return false;
	if (use)
		slot = attribute_numbers_slot(from,
					      sizeof(use->attributes) / sizeof(*use->attributes));
	if (use && !memcmp(&use->attributes[slot].from, &from, sizeof(from)))
		return use->attributes[slot].passes;
	passes = attributes_match(filter, reader, from);
	if (use) {
		use->attributes[slot].from = from;
		use->attributes[slot].passes = passes;
	}
	return passes;
}

static bool event_passes(const struct event_filter *filter, const struct trace_reader *reader,
			 const struct trace_event *event)
{
	const struct trace_context *context;
	const struct trace_source *sources;
	char room[CONTEXT_NAME_ROOM];

	if (event->is_counted && (filter->from || filter->to))
		return false;
	if (event->time < filter->from || (filter->to && event->time > filter->to) ||
	    !list_allows_number(&filter->cpus, event->cpu))
		return false;
	if (filter->traces.count || filter->spans.count) {
		context = trace_reader_context(reader, event);
		if (!context ||
		    !id_begins_with_any(&filter->traces, format_trace_id_name(context, room)) ||
		    !id_begins_with_any(&filter->spans, format_span_id_name(context, room)))
			return false;
	}
	trace_reader_sources(reader, &sources);
	return name_matches_any(&filter->events, sources[event->kind].name, event_name_matches) &&
	       event_filter_passes_thread(filter, reader, event->tid, event->time) &&
	       (!filter->attributes.count || event_has_attributes(filter, reader, event));
}

bool event_filter_passes(const struct event_filter *filter, const struct trace_reader *reader,
			 const struct trace_event *event)
{
	bool passed = event_passes(filter, reader, event);

	if (filter->use) {
		filter->use->met = true;
		filter->use->passed |= passed;
	}
	return passed;
}
