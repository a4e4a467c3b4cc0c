/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Common parts of the views of `stackmap report`. Each view is one file, report_*.c. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "format/json_text.h"
#include "report/event/lock_table.h"
#include "report/event/origins.h"
#include "report/event/time_table.h"
#include "report/event/wait_pairs.h"
#include "report/profile/calltree.h"
#include "report/profile/profile.h"
#include "report/profile/report_table.h"

struct report {
	struct trace_reader *reader;
	bool is_store; /* the events come from a store: start_ns is null */
	struct profile *profile;
	struct time_table *times;     /* accounts of threads' time; no rows without --time */
	struct wait_pairs *wakers;    /* NULL: not asked for */
	struct lock_table *locks;     /* NULL: not asked for */
	struct origin_table *origins; /* NULL: not asked for */
	struct debug_lookup *debug;   /* NULL: without debug information */
	const struct trace_source *sources;
	u32 source_count;
	struct profile_weights weights;
	u64 limit;    /* rows that are shown */
	double least; /* percent; smaller rows are hidden */
	bool color;
};

/* A time in a unit that suits it; the text holds until the next call. */
const char *report_time_text(u64 ns);
/* Percent; 0 if `whole` is 0. */
double report_share(u64 part, u64 whole);
/* Share of a row in the weight of its source. */
double report_percent(const struct report *report, u32 kind, u64 weight);
/* " ns" for values of a source that have a unit. */
const char *report_value(const struct report *report, u32 kind, u64 value);
/* The standard error of a value that is an estimate, as " +- 3 MiB"; "" for other values. */
const char *report_error(const struct report *report, u32 kind, u64 estimates);

/* Sets sources and weights, and sorts the profile (profile_weigh()). -ENOMEM; the view then needs
 * no clearing. */
int report_weigh_events(struct report *report, const char *by);

/* Prints the frames, one line each. */
void report_put_stack(const struct report *report, const struct profile_row *row);
/* Prints the frames on one line, separated by `;`; a `;` in a name becomes `:`. */
void report_put_path(const struct report *report, const struct profile_path *path, FILE *to);
/* Prints the frames as a field of CSV behind a comma. -ENOMEM. */
int report_csv_path(const struct report *report, const struct profile_path *path);

/* Prints the members of `view`, which is taken over, behind those that all views have: start_ns and
 * ledger. 0 or -ENOMEM. */
int report_put_json(const struct report *report, json_t *view);

/* 0, or a message and -EINVAL. A NULL text leaves *percent as it is. */
int report_parse_percent(const char *text, double *percent);

/* Each returns 0 or -errno; main() checks standard output later. */
int report_stacks_plain(const struct report *report);
int report_stacks_csv(const struct report *report);
int report_stacks_json(const struct report *report);

/* The columns of a table: keys, which distinguish rows, and measures. */

/* X(ID, name). */
#define TABLE_MEASURES(X)                                                                          \
	X(SELF, "self")                                                                            \
	X(CHILDREN, "children")                                                                    \
	X(COUNT, "count")                                                                          \
	X(CHILDREN_COUNT, "children_count")                                                        \
	X(VALUE, "value")                                                                          \
	X(CHILDREN_VALUE, "children_value")

#define X(id, name) MEASURE_##id,
enum table_measure { TABLE_MEASURES(X) TABLE_MEASURE_COUNT };
#undef X

#define TABLE_FIELDS_MAX (TABLE_KEY_COUNT + TABLE_MEASURE_COUNT)

struct table_field {
	bool is_key;
	union {
		enum table_key key;
		enum table_measure measure;
	};
};

struct report_fields {
	u32 keys; /* 1 << enum table_key, as bits */
	u32 count;
	struct table_field field[TABLE_FIELDS_MAX];
};

/* `sort` and `columns` are lists with commas, one of them may be NULL. 0, or a message and -EINVAL.
 */
int report_fields_parse(const char *sort, const char *columns, struct report_fields *fields);

/* Refuses columns that a store lacks (processes, threads, CPUs): -EINVAL and a message. */
int report_fields_check_store(const struct report_fields *fields);

/* Puts `event` in front, to distinguish rows of several sources. */
void report_fields_add_event(struct report_fields *fields);

const char *table_field_name(const struct table_field *field);

/* The words that the two lists accept (struct option_row). */
extern const char report_key_words[];
extern const char report_field_words[];

struct report_table_request {
	struct report_fields fields;
	bool by_children;
};

int report_table_plain(const struct report *report, const struct report_table_request *request);
int report_table_csv(const struct report *report, const struct report_table_request *request);
int report_table_json(const struct report *report, const struct report_table_request *request);

struct report_tree_request {
	enum calltree_view view;
	const char *symbol; /* as it was asked for */
	struct function_set functions;
};

int report_tree_plain(const struct report *report, const struct report_tree_request *request);
int report_tree_json(const struct report *report, const struct report_tree_request *request);

/* 0, or a message and -EINVAL: the rows of the account of time (NULL: by thread). */
int report_time_key(const char *text, enum time_key *key);

int report_time_plain(const struct report *report, const struct time_table *table,
		      enum time_key key);
int report_time_csv(const struct report *report, const struct time_table *table, enum time_key key);
int report_time_json(const struct report *report, const struct time_table *table,
		     enum time_key key);

/* Prints a pair with both stacks; `whole` is the time of which the pair has a share. */
void report_put_pair(const struct report *report, const struct wait_pair *pair, u64 whole);
json_t *report_pair_json(const struct report *report, const struct wait_pair *pair);

int report_origins_plain(const struct report *report);
int report_origins_csv(const struct report *report);
int report_origins_json(const struct report *report);
int report_wakers_plain(const struct report *report);
int report_wakers_csv(const struct report *report);
int report_wakers_json(const struct report *report);

int report_locks_plain(const struct report *report);
int report_locks_csv(const struct report *report);
int report_locks_json(const struct report *report);

/* The whole account on one line. */
void report_print_time_ledger(const struct time_table *table, const char *prefix);

/* Histograms by the keys of the request, or by stack without keys; sorts the values. */
struct report_hist_request {
	bool is_asked;
	enum histogram_scale scale;
	const struct report_table_request *table; /* NULL: by stack */
};

int report_hist_plain(const struct report *report, const struct report_hist_request *request);
int report_hist_csv(const struct report *report, const struct report_hist_request *request);
int report_hist_json(const struct report *report, const struct report_hist_request *request);

int report_missing_plain(const struct report *report);
int report_missing_json(const struct report *report);
/* Reports on standard error, if the share is large. */
void report_note_missing(const struct report *report);

#endif
