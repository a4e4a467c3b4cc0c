/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The selection of a question as SQL: a condition of fixed text and numbers, and external tables
 * with the users' values. Globs are matched by this program against the values that the store has,
 * so no pattern is sent to a server.
 */
#ifndef LIB_STORE_READ_SELECTION_H
#define LIB_STORE_READ_SELECTION_H

#include <stdbool.h>

#include "array.h"
#include "scalar.h"
#include "store/wire/clickhouse.h"

/*
 * All servers of a store. Each server has all rows of some hosts. Every query therefore goes to
 * each server, and this program adds up the answers. A server that does not answer is left out of
 * all further queries; the result without it is shown and marked as incomplete.
 *
 * Servers are not trusted: the size of an answer is limited, and the reader checks each number.
 */

/* error code: a server does not answer any more, so all queries are repeated without it */
#define SHARD_WENT (-EAGAIN)

struct store_access {
	const char *url;
	/* name of the user, password, and file of CA certificates; each may be NULL */
	const char *user, *password, *ca_file;
	bool allows_cleartext; /* true: the password may be sent to another machine over plain http
				*/
};

struct shards;

/* Opens all servers. Returns 0 if at least one server answers and has this program's schema. */
int shards_open(const struct store_access *access, struct shards **out,
		struct stackmap_error *error);
void shards_close(struct shards **shards);

u32 shards_count(const struct shards *shards);
/* Returns the reason why a server does not answer; NULL: it answers. */
const char *reason_shard_is_missing(const struct shards *shards, u32 shard);
bool are_all_shards_available(const struct shards *shards);

/* Marks the events of a shard as repeated: they are read with FINAL from now on. */
void shards_mark_events_repeated(struct shards *shards, u32 shard);

struct shard_query {
	/* "{events}" stands for the table of events. The text has no FORMAT clause */
	const char *sql;
	const struct clickhouse_table *tables;
	u32 table_count;
};

/*
 * A function that reads one row of an answer. A negative result ends the query. The caller checks
 * the cursor for failures.
 */
typedef int (*shard_row)(void *arg, u32 shard, struct byte_cursor *row,
			 struct stackmap_error *error);

/* Sends a query to one server. 0, SHARD_WENT, or another -errno with `error` set. */
int shards_query_one_server(struct shards *shards, u32 shard, const struct shard_query *query,
			    shard_row take, void *arg, struct stackmap_error *error);
/* Sends a query to all servers that answer. */
int shards_query_all_servers(struct shards *shards, const struct shard_query *query, shard_row take,
			     void *arg, struct stackmap_error *error);

/*
 * A question to a store: a selection of events, a time range, and the detail. An empty list selects
 * all events. With a list that is not empty, an event must match one item of it.
 */

/*
 * X(ID, column of `events`), in the order in which the values are queried: each field narrows the
 * next query.
 */
#define STORE_FIELDS(X)                                                                            \
	X(SERVICE, "service")                                                                      \
	X(HOST, "host")                                                                            \
	X(VERSION, "version")                                                                      \
	X(EVENT, "event")                                                                          \
	X(CGROUP, "cgroup")                                                                        \
	X(COMM, "comm")

#define X(id, column) STORE_FIELD_##id,
enum store_field { STORE_FIELDS(X) STORE_FIELD_COUNT };
#undef X

#define STORE_CAP_DEFAULT 100000 /* default of store_question.cap */

struct store_question {
	/* by field: globs for its value; a cgroup includes its children */
	struct string_list wanted[STORE_FIELD_COUNT];
	u64 from, to;	/* seconds since the epoch: windows that begin in [from, to) are selected */
	u32 cap;	/* number of stacks shown one by one; all others become [rest] */
	u32 step;	/* seconds of a time step; 0: one step for the whole range */
	bool by_cgroup; /* false: the cgroups of events are not asked for */
	bool no_inlined; /* true: inlined functions are left out */
};

const char *store_field_name(enum store_field field);

#define SELECTION_WHERE_BYTES 512
#define SELECTION_TABLES (STORE_FIELD_COUNT + 1)

struct selection {
	char time[96];			   /* SQL condition on the column `time` */
	char where[SELECTION_WHERE_BYTES]; /* the whole SQL condition, with that on the time */
	struct byte_buffer rows[STORE_FIELD_COUNT];
	/* external tables with the values of fields, and room for one table of the caller */
	struct clickhouse_table tables[SELECTION_TABLES];
	u32 table_count;
};

/* Makes the SQL of a question. -ENOENT: the store has no such service, host... in this time. */
int selection_make(struct shards *shards, const struct store_question *question,
		   struct selection *selection, struct stackmap_error *error);
void selection_clear(struct selection *selection);

/* Copies the SQL with the condition in place of "%s". The caller frees the copy. */
char *selection_sql(const struct selection *selection, const char *format);

#endif
