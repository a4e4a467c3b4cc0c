/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The selection of a question as SQL: a condition that consists of fixed text and numbers, and
 * external tables with the users' values. Globs are matched here, against the store's values, so no
 * pattern is sent to a server.
 */
#ifndef LIB_STORE_READ_SELECTION_H
#define LIB_STORE_READ_SELECTION_H

#include "store/read/question.h"
#include "store/read/shards.h"

#define SELECTION_WHERE_BYTES 512
#define SELECTION_TABLES (STORE_FIELD_COUNT + 1)

struct selection {
	char time[96];			   /* condition on `time` */
	char where[SELECTION_WHERE_BYTES]; /* whole condition */
	struct byte_buffer rows[STORE_FIELD_COUNT];
	struct clickhouse_table tables[SELECTION_TABLES]; /* one entry is for the caller */
	u32 table_count;
};

/* -ENOENT: the store has no such service, host... in this time. */
int selection_make(struct shards *shards, const struct store_question *question,
		   struct selection *selection, struct stackmap_error *error);
void selection_clear(struct selection *selection);

/* Copies the SQL with the condition in place of "%s". The caller frees the copy. */
char *selection_sql(const struct selection *selection, const char *format);

#endif
