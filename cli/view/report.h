/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts that the views of `stackmap report` have in common. Each view is one file, report_*.c.
 */
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
	bool is_store; /* the events come from a store, so start_ns is null */
	struct profile *profile;
	struct time_table *times;     /* table of threads' time; it has no rows without --time */
	struct wait_pairs *wakers;    /* table of --wakers; NULL: not asked for */
	struct lock_table *locks;     /* table of --locks; NULL: not asked for */
	struct origin_table *origins; /* table of --origins; NULL: not asked for */
	struct debug_lookup *debug;   /* lookup of debug information; NULL: none is read */
	const struct trace_source *sources;
	u32 source_count;
	struct profile_weights weights;
	u64 limit;    /* number of rows of a view to show */
	double least; /* limit in percent; rows below it are hidden */
	bool color;
};

/* Formats a time with a suitable unit. The text is valid until the next call. */
const char *format_duration_ns(u64 ns);
/* Returns `part` in percent of `whole`; 0 if `whole` is 0. */
double percent_or_zero(u64 part, u64 whole);
/* The weight of a row in percent of the weight of all events of its source. */
double report_percent(const struct report *report, u32 kind, u64 weight);
/*
 * Formats a value of a source with its unit, as "79.7 s"; without a unit the value is a plain
 * number. The text is valid until the next call.
 */
const char *format_value_of_source(const struct report *report, u32 kind, u64 value);
/* The standard error of a value that is an estimate, as " +- 3 MiB"; "" for other values. */
const char *format_sampling_error(const struct report *report, u32 kind, u64 estimates);

/*
 * Sets sources and weights, and sorts the profile (profile_weigh()). -ENOMEM; the view then has
 * nothing to free.
 */
int report_weigh_events(struct report *report, const char *by);

/* Prints the frames of a stack, one line each. */
void print_kernel_and_user_path(const struct report *report, const struct profile_row *row);
/* Prints the frames of a path on one line, separated by `;`; a `;` in a name becomes `:`. */
void write_folded_path(const struct report *report, const struct profile_path *path, FILE *to);
/* Prints a comma, and the frames of a path as a CSV field. -ENOMEM. */
int print_path_as_csv(const struct report *report, const struct profile_path *path);

/*
 * Prints the JSON object of a view: start_ns and ledger, which all views have, then the members of
 * `view`, which is freed. 0 or -ENOMEM.
 */
int report_put_json(const struct report *report, json_t *view);

/*
 * Parses a percentage. 0, or -EINVAL after a message. If the text is NULL, *percent is unchanged.
 */
int report_parse_percent(const char *text, double *percent);

/*
 * The functions that print a view. Each returns 0 or -errno; main() checks standard output later.
 */
int report_stacks_plain(const struct report *report);
int report_stacks_csv(const struct report *report);
int report_stacks_json(const struct report *report);

/* The columns of a table: keys, which distinguish rows, and measures, which are numbers. */

/* Measures: X(ID, name). */
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
#define REPORT_KEY_ROOM 288 /* room for a key with the name of an attribute */

struct table_field {
	bool is_key;
	union {
		enum table_key key;
		enum table_measure measure;
	};
};

struct report_fields {
	u32 keys; /* keys among the fields, as bits 1 << enum table_key */
	/* with TABLE_ATTRIBUTE: the attribute as the user wrote it, with or without "attribute:" */
	char attribute[REPORT_KEY_ROOM];
	u32 count;
	struct table_field field[TABLE_FIELDS_MAX];
};

/*
 * Parses the options `sort` and `columns`, which are lists with commas; one of them may be NULL. 0,
 * or -EINVAL after a message.
 */
int report_fields_parse(const char *sort, const char *columns, struct report_fields *fields);

/*
 * Refuses columns that a store does not have (processes, threads, CPUs): -EINVAL after a message.
 */
int report_fields_check_store(const struct report_fields *fields);

/* Adds `event` as the first column, to distinguish rows of several sources. */
void report_fields_add_event(struct report_fields *fields);

const char *report_key_title(const struct report_fields *fields, enum table_key key);
/* True if the word is the name of an attribute: with a dot, which no other key has, or with
 * "attribute:" in front. */
bool report_is_attribute(const char *word);
/* The name of the attribute in such a word. */
const char *report_attribute_name(const char *word);

/* The name of the attribute among the keys. Not set if no key is an attribute. */
const char *report_attribute(const struct report_fields *fields);

/* The words that the options --sort and --fields accept (words of struct option_row). */
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
	const char *symbol; /* name of the function, as the user wrote it */
	struct function_set functions;
};

int report_tree_plain(const struct report *report, const struct report_tree_request *request);
int report_tree_json(const struct report *report, const struct report_tree_request *request);

/*
 * Parses the key of the rows of a table of threads' time (NULL: by thread). 0, or -EINVAL after a
 * message.
 */
int parse_key_of_time_table(const char *text, enum time_key *key);

int report_time_plain(const struct report *report, const struct time_table *table,
		      enum time_key key);
int report_time_csv(const struct report *report, const struct time_table *table, enum time_key key);
int report_time_json(const struct report *report, const struct time_table *table,
		     enum time_key key);

/*
 * Prints a pair of waiting thread and waker, with both stacks; `whole` is the time of which the
 * pair's share is printed.
 */
void print_wait_pair_with_stacks(const struct report *report, const struct wait_pair *pair,
				 u64 whole);
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

/* Prints the sums over all threads on one line. */
void report_print_time_ledger(const struct time_table *table, const char *prefix);

/*
 * Histograms by the keys of the request, or by stack if there are no keys. The functions sort the
 * values.
 */
struct report_hist_request {
	bool is_asked;
	enum histogram_scale scale;
	/* the keys of the histograms as a request of a table; NULL: one histogram for each stack */
	const struct report_table_request *table;
};

int report_hist_plain(const struct report *report, const struct report_hist_request *request);
int report_hist_csv(const struct report *report, const struct report_hist_request *request);
int report_hist_json(const struct report *report, const struct report_hist_request *request);

int report_missing_plain(const struct report *report);
int report_missing_json(const struct report *report);
/* Reports on standard error that code has no names, if its share of the events is large. */
void print_hint_for_missing_names(const struct report *report);

#endif
