/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a store, and the version of their schema; docs/internals/store.md describes them.
 * An agent refuses a store with a newer version of the schema; `store init` migrates a store with
 * an older version.
 */
#ifndef LIB_STORE_WIRE_SCHEMA_H
#define LIB_STORE_WIRE_SCHEMA_H

#include "store/wire/clickhouse.h"

#define SCHEMA_VERSION 1

/*
 * The tables of a store, in the order in which a batch's rows are sent. The ledger is sent first,
 * so that a loss of other rows can be seen.
 */
#define STORE_TABLES(X)                                                                            \
	X(LEDGER, "ledger")                                                                        \
	X(HOSTS, "hosts")                                                                          \
	X(OBJECTS, "objects")                                                                      \
	X(FRAMES, "frames")                                                                        \
	X(STACKS, "stacks")                                                                        \
	X(EVENTS, "events")

#define X(id, name) STORE_##id,
enum store_table { STORE_TABLES(X) STORE_TABLE_COUNT };
#undef X

const char *store_table_name(enum store_table table);

/*
 * Makes the database and its tables, or migrates them; existing data stays. `cluster` may be NULL;
 * otherwise tables that read all servers of this cluster are made as well ("events_all").
 */
int schema_init(struct clickhouse *server, const char *cluster, struct stackmap_error *error);

/* Returns 0 if the server has this program's schema. -ENOENT: no schema; -EPROTONOSUPPORT: a newer
 * schema; -ESTALE: an older schema. The error contains advice. */
int schema_check(struct clickhouse *server, struct clickhouse_result *result,
		 struct stackmap_error *error);

/* Drops the days of a store as whole partitions, which is cheap for the server. */

struct dropped_day {
	const char *table;
	u32 day; /* the dropped day as a number: 20261125 */
	u64 rows, bytes;
};

/* Drops all days before the day `first`, and calls `dropped` for each dropped day. */
int retention_drop(struct clickhouse *server, u32 first,
		   void (*dropped)(void *arg, const struct dropped_day *day), void *arg,
		   struct stackmap_error *error);

#endif
