/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The columns of a table: keys, which distinguish rows, and measures. */
#ifndef CLI_REPORT_FIELDS_H
#define CLI_REPORT_FIELDS_H

#include "report/profile/report_table.h"

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

#endif
