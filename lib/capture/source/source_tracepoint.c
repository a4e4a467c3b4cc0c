/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracepoints, written CATEGORY:NAME. A raw tracepoint is attached by NAME alone, which is unique
 * in the kernel. Without tracefs any category is therefore accepted, and only globs need tracefs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/feature/tracefs.h"
#include "error.h"
#include "source_ops.h"
#include "tracepoint.h"

#define NAME_BYTES 256

struct search {
	struct source_query *query;
	source_visit visit;
	void *arg;
	int events; /* descriptor of the directory `events` of tracefs, or -errno */
	struct stackmap_error *error;
	bool is_reported; /* `error` was set already */
};

struct record {
	const struct search *search;
	struct source *source;
};

static int find_field_number(void *arg, const char *field, struct source_number *out,
			     struct stackmap_error *error)
{
	const struct record *record = arg;
	const struct search *search = record->search;
	const char *name = record->source->name, *subject = search->query->subject;
	struct tracepoint_field found;
	int err;

	/* The kernel may be preempted between the two programs of raw_syscalls
	 * (bpf/event/field_value.h). */
	if (!strncmp(name, "raw_syscalls:", strlen("raw_syscalls:")))
		return error_set(error, EOPNOTSUPP,
				 "%s: %s cannot have a value: what it loses is not known; those of "
				 "syscalls:sys_enter_* and sys_exit_* can",
				 subject, name);
	err = tracepoint_field_find(search->events, name, field, subject, &found, error);
	if (err)
		return err;
	record->source->tracepoint = found.tracepoint;
	*out = tracepoint_field_number(&found);
	return 0;
}

static int visit_tracepoint(struct search *search, const char *name)
{
	struct source source = {
		.type = SOURCE_TRACEPOINT,
		.name = (char *)name,
		.target = (char *)strchr(name, ':') + 1,
	};
	struct record record = {search, &source};
	int err = question_resolve(&search->query->asks, search->query->subject, find_field_number,
				   &record, &source, search->error);

	search->is_reported = err;
	return err ? err : search->visit(search->arg, &source);
}

static int visit_matching_tracepoint(void *arg, const char *name)
{
	struct search *search = arg;

	return name_match_compare_name(&search->query->match, name) ? visit_tracepoint(search, name)
								    : 0;
}

/* Tries the name of a raw tracepoint. Such names are unique, so any category that the user wrote is
 * accepted. */
static int try_raw_tracepoint_name(void *arg, const char *raw)
{
	struct search *search = arg;
	const char *pattern = search->query->match.pattern;
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%.*s:%s", (int)strcspn(pattern, ":"), pattern, raw);
	return visit_matching_tracepoint(arg, name);
}

static int find_tracepoint_without_tracefs(struct search *search)
{
	const struct name_match *match = &search->query->match;

	search->query->hint = " (tracefs cannot be read: only whole names are known)";
	if (match->is_glob || !strchr(match->pattern, ':') ||
	    !strncmp(match->pattern, "syscalls:", strlen("syscalls:")))
		return 0;
	return tracepoint_each_btf(try_raw_tracepoint_name, search);
}

static int find_tracepoints(struct source_query *query, source_visit visit, void *arg,
			    struct stackmap_error *error)
{
	struct search search = {query, visit, arg, tracefs_open_events(), error};
	int err;

	if (search.events < 0) {
		err = find_tracepoint_without_tracefs(&search);
	} else {
		err = tracepoint_each_event(search.events, visit_matching_tracepoint, &search);
		close(search.events);
	}
	if (err < 0 && !search.is_reported)
		return error_set(error, -err, "%s: names of tracepoints: %s", query->subject,
				 strerror(-err));
	return err;
}

const struct source_ops source_tracepoint_ops = {
	.group = "tracepoint",
	.find = find_tracepoints,
};
