/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that differ in time and value only, added up. The table does not grow: when it is full,
 * whoever fills it takes out what it holds and empties it. Then a sample may come again, with what
 * was added since; the sums are right all the same.
 */
#ifndef LIB_EXPORT_SAMPLE_TABLE_H
#define LIB_EXPORT_SAMPLE_TABLE_H

#include "trace/event.h"

struct sample_key {
	struct trace_event event; /* time, value and repeats 0 */
	u32 tgid;
	u32 cgroup; /* number; 0: not known */
	char comm[16];
};

struct sample {
	struct sample_key key;
	u64 count; /* of events, each of which may stand for many */
	u64 value;
};

struct sample_table;

int sample_table_create(u32 room, struct sample_table **out); /* -ENOMEM */
void sample_table_free(struct sample_table **table);

/* `task` NULL: not known. -ENOSPC: full. */
int sample_table_add(struct sample_table *table, const struct trace_event *event,
		     const struct trace_task *task);

/* In the order in which they came first. Stops at the first non-zero return and returns it. */
int sample_table_each(const struct sample_table *table,
		      int (*each)(void *arg, const struct sample *sample), void *arg);
void sample_table_empty(struct sample_table *table);

#endif
