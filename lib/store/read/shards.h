/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All servers of a store, each of which has all rows of some hosts: every question goes to each of
 * them, and answers are added up here. One that does not answer is away from then on; what is
 * known without it is still shown, and said to be a part.
 *
 * What servers answer is not trusted: an answer has a limit, and who takes it checks each number.
 */
#ifndef LIB_STORE_READ_SHARDS_H
#define LIB_STORE_READ_SHARDS_H

#include "store/wire/clickhouse.h"

#define SHARD_WENT (-EAGAIN) /* a server went away in the middle: ask all again, without it */

struct store_access {
	const char *url;
	const char *user, *password, *ca_file; /* or NULL */
	bool allows_cleartext; /* the password may go over http to another machine */
};

struct shards;

/* 0 if at least one is there and has our schema. */
int shards_open(const struct store_access *access, struct shards **out,
		struct stackmap_error *error);
void shards_close(struct shards **shards);

u32 shards_count(const struct shards *shards);
/* Why it is away, or NULL: it is there. */
const char *shards_away(const struct shards *shards, u32 shard);
bool shards_are_whole(const struct shards *shards);

/* Its events are there more than once: they are read with FINAL from now on. */
void shards_set_repeated(struct shards *shards, u32 shard);

struct shard_query {
	const char *sql; /* "{events}" in it is the table of events; without FORMAT */
	const struct clickhouse_table *tables;
	u32 table_count;
};

/* Takes one row; negative ends it. Failures of the cursor are seen by the caller. */
typedef int (*shard_row)(void *arg, u32 shard, struct byte_cursor *row,
			 struct stackmap_error *error);

/* One server; SHARD_WENT, or another -errno with `error` set. */
int shards_ask(struct shards *shards, u32 shard, const struct shard_query *query, shard_row take,
	       void *arg, struct stackmap_error *error);
/* Every one that is there. */
int shards_ask_all(struct shards *shards, const struct shard_query *query, shard_row take,
		   void *arg, struct stackmap_error *error);

#endif
