/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One ClickHouse server, over HTTP. SQL is fixed text of the program; values of users are sent as
 * external tables, so the server never parses them as SQL.
 *
 * After a failed insert it is unknown which rows are stored, whatever the server answered: if the
 * request's body was cut, some of its rows may be stored. The kind of a failure is read from the
 * server's code, not from the HTTP status.
 */
#ifndef LIB_STORE_WIRE_CLICKHOUSE_H
#define LIB_STORE_WIRE_CLICKHOUSE_H

#include "store/wire/http.h"

struct clickhouse;

struct clickhouse_options {
	struct http_options http;
	const char *database;
};

enum clickhouse_outcome {
	CLICKHOUSE_DONE,
	CLICKHOUSE_UNSURE,   /* no answer, or a busy or failing server: retry later */
	CLICKHOUSE_DENIED,   /* wrong user, password or certificate: an administrator must act */
	CLICKHOUSE_REFUSED,  /* no such table or column: an administrator must act */
	CLICKHOUSE_REJECTED, /* the server cannot read the rows, or they are too many at once */
};

struct clickhouse_result {
	enum clickhouse_outcome outcome;
	u32 code; /* error code of ClickHouse; 0: the answer has no code */
	u64 date; /* time of the answer by the server's clock, seconds since the epoch; 0: unknown
		   */
};

/* An external table: data sent with a query, which its SQL uses like a table. */
struct clickhouse_table {
	const char *name;
	const char *structure; /* columns of the table: "host String, n UInt32" */
	const void *rows;      /* rows of the table, as RowBinary */
	size_t bytes;
};

int clickhouse_open(const struct clickhouse_options *options, struct clickhouse **out,
		    struct stackmap_error *error);
void clickhouse_close(struct clickhouse **server);

/* The name of the server for errors and reports: "https://HOST:PORT". */
const char *clickhouse_name(const struct clickhouse *server);

/*
 * Runs a query. 0 and the answer (RowBinary if the SQL says FORMAT RowBinary), or -errno. Then
 * *result, which may be NULL, has the kind of the failure, and *error names the server and has
 * advice. The caller frees the answer, also after a failure.
 */
int clickhouse_query(struct clickhouse *server, const char *sql,
		     const struct clickhouse_table *tables, u32 count, u64 most_bytes,
		     struct byte_buffer *answer, struct clickhouse_result *result,
		     struct stackmap_error *error);

/*
 * Runs a statement that names its database itself; that database need not exist yet. `settings` are
 * URL parameters, "&name=value" each, or "".
 */
int clickhouse_execute(struct clickhouse *server, const char *sql, const char *settings,
		       struct stackmap_error *error);

const char *clickhouse_database(const struct clickhouse *server);

/*
 * Returns the year of the server's version (18, 26...), which is queried once. Servers since
 * CLICKHOUSE_MODERN have a codec for each column and can deduplicate inserts with a token. Older
 * servers need a setting for LowCardinality.
 */
#define CLICKHOUSE_MODERN 22
int clickhouse_year(struct clickhouse *server, u32 *year, struct clickhouse_result *result,
		    struct stackmap_error *error);

/* Total bytes sent to and received from the server. */
u64 clickhouse_bytes_sent(const struct clickhouse *server);
u64 clickhouse_bytes_received(const struct clickhouse *server);

/*
 * Inserts rows, compressed. `into` is "events" or "events (a, b)". `token` identifies the bytes for
 * servers that deduplicate inserts; it may be NULL.
 */
int clickhouse_insert(struct clickhouse *server, const char *into, const void *rows, size_t bytes,
		      const char *token, struct clickhouse_result *result,
		      struct stackmap_error *error);

/* Inserts rows that are already packed (row_binary.h), or plain rows. */
int clickhouse_insert_packed(struct clickhouse *server, const char *into, const void *rows,
			     size_t bytes, bool packed, const char *token,
			     struct clickhouse_result *result, struct stackmap_error *error);

#endif
