/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A statement goes as the parameter `query` of the target, rows as the body. With external tables
 * the body is a form, a part for each table, whose structure and format are parameters too.
 *
 * `wait_end_of_query` has the server keep its answer until the query has ended: otherwise a query
 * that fails half-way has said 200 already.
 */
#include "store/wire/clickhouse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/wire/packed_rows.h"
#include "store/wire/server_error.h"

#define COMPLAINT_BYTES_MAX (64U << 10) /* of an answer that should be empty */
#define VERSION_BYTES_MAX 256
#define TABLES_MAX 16

/* What libcurl adds by itself and the server has no use for: an insert of a quiet machine is hardly
 * larger than its head. */
static const char *const short_head[] = {"Accept:", "Content-Type:", NULL};

struct clickhouse {
	struct http *http;
	char *name, *database;
	u32 year; /* 0: not asked yet */
};

/* What is asked of the server, whatever it is. */
struct call {
	const char *sql;
	const char *database; /* NULL: none is named */
	const char *settings; /* "&name=value" each */
	const struct clickhouse_table *tables;
	u32 table_count;
	struct http_request http;
};

int clickhouse_open(const struct clickhouse_options *options, struct clickhouse **out,
		    struct stackmap_error *error)
{
	struct clickhouse *server = calloc(1, sizeof(*server));
	int err = -ENOMEM;

	if (server)
		server->name = strdup(options->http.base);
	if (server && server->name)
		server->database = strdup(options->database);
	if (server && server->database)
		err = http_open(&options->http, &server->http, error);
	else
		error_set(error, ENOMEM, "%s: %s", options->http.base, strerror(ENOMEM));
	if (err)
		clickhouse_close(&server);
	else
		*out = server;
	return err;
}

void clickhouse_close(struct clickhouse **server)
{
	if (!*server)
		return;
	http_close(&(*server)->http);
	free((*server)->name);
	free((*server)->database);
	free(*server);
	*server = NULL;
}

const char *clickhouse_name(const struct clickhouse *server)
{
	return server->name;
}

const char *clickhouse_database(const struct clickhouse *server)
{
	return server->database;
}

u64 clickhouse_bytes_sent(const struct clickhouse *server)
{
	return http_bytes_sent(server->http);
}

u64 clickhouse_bytes_received(const struct clickhouse *server)
{
	return http_bytes_received(server->http);
}

static void put(struct byte_buffer *target, const char *text)
{
	byte_buffer_append(target, text, strlen(text));
}

/* As URLs have what is not a letter or a digit. */
static void put_escaped(struct byte_buffer *target, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		u8 byte = (u8)*text;

		if (byte < 0x80 && (isalnum(byte) || strchr("-_.~", byte))) {
			byte_buffer_byte(target, byte);
			continue;
		}
		byte_buffer_byte(target, '%');
		byte_buffer_byte(target, (u8)digits[byte >> 4]);
		byte_buffer_byte(target, (u8)digits[byte & 0xf]);
	}
}

static void put_table(struct byte_buffer *target, const struct clickhouse_table *table)
{
	put(target, "&");
	put(target, table->name);
	put(target, "_structure=");
	put_escaped(target, table->structure);
	put(target, "&");
	put(target, table->name);
	put(target, "_format=RowBinary");
}

static void put_target(struct byte_buffer *target, const struct call *call)
{
	put(target, "/?");
	if (call->database) {
		put(target, "database=");
		put(target, call->database);
		put(target, "&");
	}
	put(target, "query=");
	put_escaped(target, call->sql);
	put(target, call->settings);
	for (u32 i = 0; i < call->table_count; i++)
		put_table(target, &call->tables[i]);
	byte_buffer_byte(target, 0);
}

static int call_failed(struct clickhouse *server, const struct http_answer *answer,
		       struct clickhouse_result *result, struct stackmap_error *error)
{
	struct server_error said;

	server_error_read(answer->status, answer->body.data, answer->body.used, &said);
	result->outcome = said.outcome;
	result->code = said.code;
	return error_set(error, said.outcome == CLICKHOUSE_DENIED ? EACCES : EREMOTEIO, "%s: %s",
			 server->name, said.text);
}

static int send_call(struct clickhouse *server, struct call *call, struct byte_buffer *target,
		     struct byte_buffer *body, struct clickhouse_result *result,
		     struct stackmap_error *error)
{
	struct http_answer answer;
	int err;

	call->http.target = (const char *)target->data;
	if (!call->http.part_count)
		call->http.headers = short_head;
	err = http_send(server->http, &call->http, &answer, error);
	*result = (struct clickhouse_result){.date = answer.date, .outcome = CLICKHOUSE_UNSURE};
	*body = answer.body;
	if (err == -EPROTO)
		result->outcome = CLICKHOUSE_DENIED;
	if (err)
		return err;
	if (server_error_is(answer.status, answer.body.data, answer.body.used))
		return call_failed(server, &answer, result, error);
	result->outcome = CLICKHOUSE_DONE;
	return 0;
}

/* `body` is the caller's to free. */
static int run(struct clickhouse *server, struct call *call, struct byte_buffer *body,
	       struct clickhouse_result *result, struct stackmap_error *error)
{
	struct clickhouse_result unwanted;
	struct byte_buffer target = {0};
	int err;

	put_target(&target, call);
	if (target.failed) {
		err = error_set(error, ENOMEM, "%s: %s", server->name, strerror(ENOMEM));
		if (result)
			*result = (struct clickhouse_result){.outcome = CLICKHOUSE_UNSURE};
	} else {
		err = send_call(server, call, &target, body, result ? result : &unwanted, error);
	}
	byte_buffer_free(&target);
	return err;
}

int clickhouse_query(struct clickhouse *server, const char *sql,
		     const struct clickhouse_table *tables, u32 count, u64 most_bytes,
		     struct byte_buffer *answer, struct clickhouse_result *result,
		     struct stackmap_error *error)
{
	struct http_part parts[TABLES_MAX];
	struct call call = {.sql = sql,
			    .database = server->database,
			    .settings = "&wait_end_of_query=1",
			    .tables = tables,
			    .table_count = count,
			    .http = {.parts = parts,
				     .part_count = count,
				     .body = count ? NULL : "",
				     .most_bytes = most_bytes}};

	*answer = (struct byte_buffer){0};
	if (count > TABLES_MAX)
		return error_set(error, EINVAL, "a query has %d tables at most", TABLES_MAX);
	for (u32 i = 0; i < count; i++)
		parts[i] = (struct http_part){
			.name = tables[i].name, .bytes = tables[i].rows, .length = tables[i].bytes};
	return run(server, &call, answer, result, error);
}

static int run_silent(struct clickhouse *server, struct call *call,
		      struct clickhouse_result *result, struct stackmap_error *error)
{
	struct byte_buffer body = {0};
	int err;

	call->http.most_bytes = COMPLAINT_BYTES_MAX;
	err = run(server, call, &body, result, error);
	byte_buffer_free(&body);
	return err;
}

int clickhouse_execute(struct clickhouse *server, const char *sql, const char *settings,
		       struct stackmap_error *error)
{
	struct call call = {.sql = sql, .settings = settings, .http = {.body = ""}};

	return run_silent(server, &call, NULL, error);
}

static u32 read_year(const struct byte_buffer *answer)
{
	u32 year = 0;

	for (size_t i = 0; i < answer->used && isdigit(answer->data[i]) && year < 1000; i++)
		year = year * 10 + (answer->data[i] - '0');
	return year;
}

int clickhouse_year(struct clickhouse *server, u32 *year, struct clickhouse_result *result,
		    struct stackmap_error *error)
{
	struct call call = {.sql = "SELECT version() FORMAT TabSeparated",
			    .settings = "",
			    .http = {.body = "", .most_bytes = VERSION_BYTES_MAX}};
	struct byte_buffer answer = {0};
	int err = server->year ? 0 : run(server, &call, &answer, result, error);

	if (!err && !server->year) {
		server->year = read_year(&answer);
		if (!server->year)
			err = error_set(error, EBADMSG, "%s: it does not tell its version",
					server->name);
		if (err && result)
			result->outcome = CLICKHOUSE_REFUSED;
	}
	byte_buffer_free(&answer);
	if (!err)
		*year = server->year;
	return err;
}

/* An insert as it is made up. */
struct insert {
	struct byte_buffer sql, settings;
	struct call call;
};

static void put_insert(struct insert *insert, const char *into)
{
	put(&insert->sql, "INSERT INTO ");
	put(&insert->sql, into);
	put(&insert->sql, " FORMAT RowBinary");
	byte_buffer_byte(&insert->sql, 0);
}

static void put_token(struct insert *insert, const char *token)
{
	put(&insert->settings, "&async_insert=0&insert_deduplication_token=");
	put_escaped(&insert->settings, token);
}

static int run_insert(struct clickhouse *server, struct insert *insert,
		      struct clickhouse_result *result, struct stackmap_error *error)
{
	byte_buffer_byte(&insert->settings, 0);
	if (insert->sql.failed || insert->settings.failed) {
		if (result)
			*result = (struct clickhouse_result){.outcome = CLICKHOUSE_UNSURE};
		return error_set(error, ENOMEM, "%s: %s", server->name, strerror(ENOMEM));
	}
	insert->call.sql = (const char *)insert->sql.data;
	insert->call.settings = (const char *)insert->settings.data;
	return run_silent(server, &insert->call, result, error);
}

int clickhouse_insert_packed(struct clickhouse *server, const char *into, const void *rows,
			     size_t bytes, bool packed, const char *token,
			     struct clickhouse_result *result, struct stackmap_error *error)
{
	struct insert insert = {
		.call = {.database = server->database, .http = {.body = rows, .length = bytes}}};
	u32 year = 0;
	int err = token ? clickhouse_year(server, &year, result, error) : 0;

	if (err)
		return err;
	put_insert(&insert, into);
	if (packed)
		put(&insert.settings, "&decompress=1");
	if (year >= CLICKHOUSE_MODERN)
		put_token(&insert, token);
	err = run_insert(server, &insert, result, error);
	byte_buffer_free(&insert.sql);
	byte_buffer_free(&insert.settings);
	return err;
}

int clickhouse_insert(struct clickhouse *server, const char *into, const void *rows, size_t bytes,
		      const char *token, struct clickhouse_result *result,
		      struct stackmap_error *error)
{
	struct byte_buffer packed = {0};
	bool is_packed = !packed_rows_append(&packed, rows, bytes);
	int err = clickhouse_insert_packed(server, into, is_packed ? packed.data : rows,
					   is_packed ? packed.used : bytes, is_packed, token,
					   result, error);

	byte_buffer_free(&packed);
	return err;
}
