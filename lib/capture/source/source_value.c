/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What /value=FIELD/ adds to a tracepoint or system call that was found. */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "source_ops.h"

static const char *unit_of(const char *name, const char *field)
{
	if (strstr(field, "bytes"))
		return "bytes";
	if (!strncmp(name, "sched:sched_stat_", strlen("sched:sched_stat_")) &&
	    strcmp(field, "pid"))
		return "ns";
	return field;
}

/* Not every system call is known to tracefs, but each has this. */
static bool is_result(const struct source *source, const char *field)
{
	return source->type == SOURCE_SYSCALL && source->on_return && !strcmp(field, "ret");
}

/* The kernel calls their two kinds of programs with preemption on in between
 * (bpf/event/field_value.h).
 */
static bool is_raw_call(const char *name)
{
	return !strncmp(name, "raw_syscalls:", strlen("raw_syscalls:"));
}

static int find_field(struct source *source, const struct source_query *query, int events,
		      struct stackmap_error *error)
{
	if (is_result(source, query->field))
		return 0;
	if (is_raw_call(source->name))
		return error_set(error, EOPNOTSUPP,
				 "%s: %s cannot have a value: what it loses is not known; those of "
				 "syscalls:sys_enter_* and sys_exit_* can",
				 query->subject, source->name);
	if (events < 0)
		return error_set(error, -events,
				 "%s: the fields of records are described by tracefs: %s%s",
				 query->subject, strerror(-events),
				 events == -EACCES ? "; it needs root or CAP_DAC_READ_SEARCH" : "");
	return tracepoint_field_find(events, source->name, query->field, query->subject,
				     &source->field, error);
}

int source_set_value(struct source *source, const struct source_query *query, int events,
		     struct stackmap_error *error)
{
	int err = query->field ? find_field(source, query, events, error) : 0;

	if (!err && query->field)
		source->unit =
			(char *)(query->unit ? query->unit : unit_of(source->name, query->field));
	return err;
}
