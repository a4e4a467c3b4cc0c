/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flat table of a profile: one row for each source, time slice and combination of keys. `self` is
 * the sum of the events whose innermost frame is in the function (or file) of the row. `children`
 * is the sum of the events that have the function (or file) anywhere on their stack, each event
 * once. If no key is about frames, both are equal.
 *
 *    sum of self over the rows of a source = events of the source
 */
#ifndef LIB_REPORT_REPORT_TABLE_H
#define LIB_REPORT_REPORT_TABLE_H

#include "profile.h"
#include "ring.h"

/* Keys: X(ID, name, meaning). The names are those of perf. TABLE_ATTRIBUTE is any attribute that
 * processes publish, with the name of the most usual one here. */
#define TABLE_KEYS(X)                                                                              \
	X(EVENT, "event", "the source of the event")                                               \
	X(PID, "pid", "the process")                                                               \
	X(COMM, "comm", "the name of the task")                                                    \
	X(TID, "tid", "the thread")                                                                \
	X(CGROUP, "cgroup", "the cgroup of the task")                                              \
	X(CPU, "cpu", "the CPU")                                                                   \
	X(TRACE, "trace", "the trace that the thread works for")                                   \
	X(SPAN, "span", "the span of the trace")                                                   \
	X(ATTRIBUTE, "service.name", "an attribute that the process publishes")                    \
	X(DSO, "dso", "the file of the code")                                                      \
	X(SYMBOL, "symbol", "the function")

#define X(id, name, meaning) TABLE_##id,
enum table_key { TABLE_KEYS(X) TABLE_KEY_COUNT };
#undef X

/* Accepts "sym" for "symbol", as perf does. -ENOENT: unknown key. */
int table_key_find(const char *name, enum table_key *key);
const char *table_key_name(enum table_key key);

struct table_sum {
	u64 count;     /* number of events */
	u64 value;     /* sum of the events' values */
	u64 estimates; /* events whose value is an estimate (report/profile/profile.h) */
};

struct table_row {
	u32 kind;
	u32 cell[TABLE_KEY_COUNT]; /* by key: value of the row, whose text report_table_cell_text()
				    * gives; 0: not a key of the table
				    */
	u32 slice; /* number of the time slice; 0: the profile is not split by time */
	struct table_sum self, children;
	struct distribution values; /* distribution of the values of `self`, or of `children` if the
				       rows are sorted by `children` */
};

struct table_options {
	u32 keys;		       /* the table's keys, as bits 1 << enum table_key */
	const enum profile_weight *by; /* by source: the weight that rows are sorted by */
	bool by_children;	       /* true: rows are sorted by `children`, false: by `self` */
	bool together;		       /* true: rows of all sources are sorted together */
	bool by_file_name; /* true: files with the same frame_names_base_name() are one file */
	/* with TABLE_ATTRIBUTE: the recording of the profile, and the name of the attribute */
	const struct trace_reader *reader;
	const char *attribute;
};

struct report_table {
	const struct profile *profile;
	struct table_row *rows; /* rows sorted by source, then heaviest first */
	u32 row_count;
};

/* The profile must be split by event_split_of_table_keys() of the keys and must outlive the table.
 * -ENOMEM. */
int report_table_create(const struct profile *profile, const struct table_options *options,
			struct report_table **out);
void report_table_free(struct report_table **table);

/* The enum event_split that the keys need, as bits. */
u32 event_split_of_table_keys(u32 keys);

/* False for the process and the thread of an interrupt, which has neither, and for the trace, the
 * span and the attribute of events without one. */
static inline bool table_row_has(const struct table_row *row, enum table_key key)
{
	if (key == TABLE_TRACE || key == TABLE_SPAN || key == TABLE_ATTRIBUTE)
		return row->cell[key] != PROFILE_NO_LABEL;
	return (key != TABLE_PID && key != TABLE_TID) || row->cell[key] != TID_INTERRUPT;
}

/* The text of a cell; "-": the row does not have the key. Numbers are written to `room`.
 * `sources` are those of the recording. */
const char *report_table_cell_text(const struct report_table *table,
				   const struct trace_source *sources, const struct table_row *row,
				   enum table_key key, char room[16]);

static inline u64 table_sum_weight(const struct table_sum *sum, enum profile_weight by)
{
	return by == WEIGHT_VALUE ? sum->value : sum->count;
}

#endif
