/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All servers of a store. Each server has all rows of some hosts, so every query goes to each
 * server, and the answers are added up here. A server that does not answer is away from then on;
 * the result without it is shown and marked as incomplete.
 *
 * Servers are not trusted: the size of an answer is limited, and the reader checks each number.
 */
#ifndef LIB_STORE_READ_SHARDS_H
#define LIB_STORE_READ_SHARDS_H

#include "store/wire/clickhouse.h"

#define SHARD_WENT (-EAGAIN) /* a server went away in between: repeat all queries without it */

struct store_access {
	const char *url;
	const char *user, *password, *ca_file; /* or NULL */
	bool allows_cleartext; /* the password may go over http to another machine */
};

struct shards;

/* Returns 0 if at least one server is present and has this program's schema. */
int shards_open(const struct store_access *access, struct shards **out,
		struct stackmap_error *error);
void shards_close(struct shards **shards);

u32 shards_count(const struct shards *shards);
/* Returns the cause of the server's absence; NULL: present. */
const char *shards_away(const struct shards *shards, u32 shard);
bool shards_are_whole(const struct shards *shards);

/* Marks the events of a shard as repeated: they are read with FINAL from now on. */
void shards_set_repeated(struct shards *shards, u32 shard);

struct shard_query {
	const char *sql; /* "{events}" stands for the table of events; without FORMAT */
	const struct clickhouse_table *tables;
	u32 table_count;
};

/* Reads one row; a negative result ends the query. The caller checks the cursor for failures. */
typedef int (*shard_row)(void *arg, u32 shard, struct byte_cursor *row,
			 struct stackmap_error *error);

/* Queries one server. 0, SHARD_WENT, or another -errno with `error` set. */
int shards_ask(struct shards *shards, u32 shard, const struct shard_query *query, shard_row take,
	       void *arg, struct stackmap_error *error);
/* Queries all present servers. */
int shards_ask_all(struct shards *shards, const struct shard_query *query, shard_row take,
		   void *arg, struct stackmap_error *error);

#endif
