/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums of events that are equal except for time and value. The table does not grow: the owner of a
 * full table takes the samples out and empties the table. A sample that comes again then has the
 * sums of the events since. The sums over all rounds are complete.
 */
#ifndef LIB_EXPORT_SAMPLE_TABLE_H
#define LIB_EXPORT_SAMPLE_TABLE_H

#include <stdbool.h>

#include "trace/event.h"

struct sample_key {
	/* an event of the sample, whose time, value and repeats are 0; the context is set only with
	 * `by_context` */
	struct trace_event event;
	u32 tgid;
	u32 cgroup; /* number of the cgroup in the recording; 0: not known */
	char comm[16];
	u32 process; /* number of the process context; 0: the process has no context */
	u32 reserved;
};

struct sample {
	struct sample_key key;
	/* number of events; an event of a summary counts as all events that it stands for */
	u64 count;
	u64 value;
};

struct sample_table;

/* The table has room for `room` samples. `by_context`: events of different traces or spans are
 * different samples. -ENOMEM. */
int sample_table_create(u32 room, bool by_context, struct sample_table **out);
void sample_table_free(struct sample_table **table);

/* Adds an event. `task`: its task, or NULL if that is unknown; `process`: as in the key. -ENOSPC:
 * the table is full. -ENOMEM. */
int sample_table_add(struct sample_table *table, const struct trace_event *event,
		     const struct trace_task *task, u32 process);

/* Calls `each` for all samples in order of first use. Stops at the first non-zero return and
 * returns it. */
int sample_table_each(const struct sample_table *table,
		      int (*each)(void *arg, const struct sample *sample), void *arg);
void sample_table_empty(struct sample_table *table);

#endif
