/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a store, and the version of their schema. docs/internals/store.md says what is in
 * them. An agent refuses a store of a newer version, `store init` migrates an older one.
 */
#ifndef LIB_STORE_WIRE_SCHEMA_H
#define LIB_STORE_WIRE_SCHEMA_H

#include "store/wire/clickhouse.h"

#define SCHEMA_VERSION 1

/* In the order in which rows of a batch are sent: what is missing behind them shows. */
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

/* Makes database and tables, or migrates them; what is there already stays. `cluster`: also makes
 * tables of all its servers, for reading ("events_all"); NULL: none. */
int schema_init(struct clickhouse *server, const char *cluster, struct stackmap_error *error);

/* 0: it is ours. -ENOENT: there is none; -EPROTONOSUPPORT: a newer one; -ESTALE: an older one. The
 * error says the way out. */
int schema_check(struct clickhouse *server, struct clickhouse_result *result,
		 struct stackmap_error *error);

#endif
