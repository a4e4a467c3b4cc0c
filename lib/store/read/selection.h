/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A question's choice as SQL: a condition that is made of our own words and of numbers, and tables
 * that go along with what users named. Globs are matched here, against the values that the store
 * has, so that a server never sees a pattern.
 */
#ifndef LIB_STORE_READ_SELECTION_H
#define LIB_STORE_READ_SELECTION_H

#include "store/read/question.h"
#include "store/read/shards.h"

#define SELECTION_WHERE_BYTES 512
#define SELECTION_TABLES (STORE_FIELD_COUNT + 1)

struct selection {
	char time[96];			   /* the condition on `time` alone */
	char where[SELECTION_WHERE_BYTES]; /* all of it */
	struct byte_buffer rows[STORE_FIELD_COUNT];
	struct clickhouse_table tables[SELECTION_TABLES]; /* one more is the caller's */
	u32 table_count;
};

/* -ENOENT: there is no such service, host... in this time. */
int selection_make(struct shards *shards, const struct store_question *question,
		   struct selection *selection, struct stackmap_error *error);
void selection_clear(struct selection *selection);

/* For sql such as "SELECT ... WHERE %s": with the condition in its place. The caller frees it. */
char *selection_sql(const struct selection *selection, const char *format);

#endif
