/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One ClickHouse server, over HTTP. SQL is the program's own text; what users name goes along as
 * external tables, so no text of theirs is ever parsed as SQL.
 *
 * A failed insert is in doubt, whatever the server said of it: of a body that was cut short half
 * the rows may be stored. What a failure means is read from the server's own code, not from HTTP's.
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
	CLICKHOUSE_UNSURE,   /* no answer, a busy or failing server: the same again, later */
	CLICKHOUSE_DENIED,   /* user, password, certificate: until somebody mends it */
	CLICKHOUSE_REFUSED,  /* no such table or column: likewise */
	CLICKHOUSE_REJECTED, /* these rows: it cannot read them, or they are too many at once */
};

struct clickhouse_result {
	enum clickhouse_outcome outcome;
	u32 code; /* the server's; 0: none */
	u64 date; /* the server's clock, seconds since the epoch; 0: not known */
};

/* An external table of a query: what SQL can ask for as if it were a table. */
struct clickhouse_table {
	const char *name;
	const char *structure; /* "host String, n UInt32" */
	const void *rows;      /* RowBinary */
	size_t bytes;
};

int clickhouse_open(const struct clickhouse_options *options, struct clickhouse **out,
		    struct stackmap_error *error);
void clickhouse_close(struct clickhouse **server);

/* For errors and reports: "https://HOST:PORT". */
const char *clickhouse_name(const struct clickhouse *server);

/* 0 and the answer (RowBinary if the SQL says FORMAT RowBinary), which the caller frees, also on
 * failure; or -errno: `result` tells the kind, `error` the text with server and way out. `result`
 * may be NULL. */
int clickhouse_query(struct clickhouse *server, const char *sql,
		     const struct clickhouse_table *tables, u32 count, u64 most_bytes,
		     struct byte_buffer *answer, struct clickhouse_result *result,
		     struct stackmap_error *error);

/* A statement of the program's own that names its database itself, which need not exist yet.
 * `settings`: "&name=value" each; "": none. */
int clickhouse_execute(struct clickhouse *server, const char *sql, const char *settings,
		       struct stackmap_error *error);

const char *clickhouse_database(const struct clickhouse *server);

/* The year of its version (18, 26...), asked for once. Servers from CLICKHOUSE_MODERN on know
 * codecs and deduplicate what comes with a token; those before need LowCardinality allowed. */
#define CLICKHOUSE_MODERN 22
int clickhouse_year(struct clickhouse *server, u32 *year, struct clickhouse_result *result,
		    struct stackmap_error *error);

/* Bytes sent and received by now. */
u64 clickhouse_bytes_sent(const struct clickhouse *server);
u64 clickhouse_bytes_received(const struct clickhouse *server);

/* `into`: "events" or "events (a, b)". `token`: names these bytes to servers that know
 * deduplication; NULL: none. Bytes are compressed on the way. */
int clickhouse_insert(struct clickhouse *server, const char *into, const void *rows, size_t bytes,
		      const char *token, struct clickhouse_result *result,
		      struct stackmap_error *error);

/* The same with rows that were packed before (packed_rows.h), or are plain. */
int clickhouse_insert_packed(struct clickhouse *server, const char *into, const void *rows,
			     size_t bytes, bool packed, const char *token,
			     struct clickhouse_result *result, struct stackmap_error *error);

#endif
