/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A statement is sent as the parameter `query` of the target, rows as the body. With external
 * tables the body is a form with a part for each table, whose structure and format are parameters.
 *
 * With `wait_end_of_query` the server holds its answer back until the query has ended; otherwise a
 * query that fails half-way has already answered 200.
 */
#include "store/wire/clickhouse.h"
#include "server_url.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/wire/packed_rows.h"

#define COMPLAINT_BYTES_MAX (64U << 10) /* limit for an answer that should be empty */
#define VERSION_BYTES_MAX 256
#define TABLES_MAX 16

/* --- errors of the server --- */

/*
 * An error message begins with "Code: N", whatever the HTTP status is: version 18.16 answers 500 to
 * a wrong column, and some versions answer 200 to a late failure.
 */

/* The codes are those of ClickHouse's ErrorCodes.cpp; their meaning never changes. */

#define SERVER_ERROR_TEXT_MAX 400

struct server_error {
	enum clickhouse_outcome outcome;
	u32 code;			  /* 0: no code */
	char text[SERVER_ERROR_TEXT_MAX]; /* one printable line, with what to do about it */
};

#define PREFIX "Code: "
#define CODE_MAX 100000
#define SHOWN_MAX 240

struct meaning {
	u32 code;
	enum clickhouse_outcome outcome;
	const char *way_out; /* advice; NULL: the server's message alone is shown */
};

#define NO_SCHEMA "stackmap store init makes what is missing"
#define LOG_IN "--user and --password-file say who you are"
#define GRANT "the user needs the right to do this"

/* Any other code counts as a transient failure. */
static const struct meaning meanings[] = {
	{192, CLICKHOUSE_DENIED, LOG_IN},	      /* UNKNOWN_USER */
	{193, CLICKHOUSE_DENIED, LOG_IN},	      /* WRONG_PASSWORD */
	{194, CLICKHOUSE_DENIED, LOG_IN},	      /* REQUIRED_PASSWORD */
	{195, CLICKHOUSE_DENIED, NULL},		      /* IP_ADDRESS_NOT_ALLOWED */
	{516, CLICKHOUSE_DENIED, LOG_IN},	      /* AUTHENTICATION_FAILED */
	{164, CLICKHOUSE_DENIED, GRANT},	      /* READONLY */
	{291, CLICKHOUSE_DENIED, GRANT},	      /* DATABASE_ACCESS_DENIED */
	{497, CLICKHOUSE_DENIED, GRANT},	      /* ACCESS_DENIED */
	{60, CLICKHOUSE_REFUSED, NO_SCHEMA},	      /* UNKNOWN_TABLE */
	{81, CLICKHOUSE_REFUSED, NO_SCHEMA},	      /* UNKNOWN_DATABASE */
	{16, CLICKHOUSE_REFUSED, NO_SCHEMA},	      /* NO_SUCH_COLUMN_IN_TABLE */
	{47, CLICKHOUSE_REFUSED, NO_SCHEMA},	      /* UNKNOWN_IDENTIFIER */
	{6, CLICKHOUSE_REJECTED, NULL},		      /* CANNOT_PARSE_TEXT */
	{27, CLICKHOUSE_REJECTED, NULL},	      /* CANNOT_PARSE_INPUT_ASSERTION_FAILED */
	{32, CLICKHOUSE_REJECTED, NULL},	      /* ATTEMPT_TO_READ_AFTER_EOF */
	{33, CLICKHOUSE_REJECTED, NULL},	      /* CANNOT_READ_ALL_DATA */
	{40, CLICKHOUSE_REJECTED, NULL},	      /* CHECKSUM_DOESNT_MATCH */
	{69, CLICKHOUSE_REJECTED, NULL},	      /* ARGUMENT_OUT_OF_BOUND */
	{271, CLICKHOUSE_REJECTED, NULL},	      /* CANNOT_DECOMPRESS */
	{10, CLICKHOUSE_REFUSED, NULL},		      /* NOT_FOUND_COLUMN_IN_BLOCK */
	{20, CLICKHOUSE_REFUSED, NULL},		      /* NUMBER_OF_COLUMNS_DOESNT_MATCH */
	{36, CLICKHOUSE_REFUSED, NULL},		      /* BAD_ARGUMENTS */
	{43, CLICKHOUSE_REFUSED, NULL},		      /* ILLEGAL_TYPE_OF_ARGUMENT */
	{46, CLICKHOUSE_REFUSED, NULL},		      /* UNKNOWN_FUNCTION */
	{48, CLICKHOUSE_REFUSED, NULL},		      /* NOT_IMPLEMENTED */
	{50, CLICKHOUSE_REFUSED, NULL},		      /* UNKNOWN_TYPE */
	{53, CLICKHOUSE_REFUSED, NULL},		      /* TYPE_MISMATCH */
	{62, CLICKHOUSE_REFUSED, NULL},		      /* SYNTAX_ERROR */
	{73, CLICKHOUSE_REFUSED, NULL},		      /* UNKNOWN_FORMAT */
	{115, CLICKHOUSE_REFUSED, NULL},	      /* UNKNOWN_SETTING */
	{117, CLICKHOUSE_REJECTED, NULL},	      /* INCORRECT_DATA */
	{128, CLICKHOUSE_REJECTED, NULL},	      /* TOO_LARGE_ARRAY_SIZE */
	{131, CLICKHOUSE_REJECTED, NULL},	      /* TOO_LARGE_STRING_SIZE */
	{170, CLICKHOUSE_REFUSED, NULL},	      /* BAD_GET */
	{455, CLICKHOUSE_REFUSED, NULL},	      /* SUSPICIOUS_TYPE_FOR_LOW_CARDINALITY */
	{243, CLICKHOUSE_UNSURE, "its disk is full"}, /* NOT_ENOUGH_SPACE */
	{252, CLICKHOUSE_UNSURE, "it gets too many small inserts"}, /* TOO_MANY_PARTS */
};

static bool begins_with_code(const char *body, size_t bytes)
{
	return bytes > strlen(PREFIX) && !memcmp(body, PREFIX, strlen(PREFIX));
}

static u32 read_code(const char *body, size_t bytes)
{
	u32 code = 0;

	if (!begins_with_code(body, bytes))
		return 0;
	for (size_t i = strlen(PREFIX); i < bytes && code < CODE_MAX; i++) {
		if (body[i] < '0' || body[i] > '9')
			break;
		code = code * 10 + (u32)(body[i] - '0');
	}
	return code;
}

/* The outcome for an answer without a code, such as a proxy's. */
static enum clickhouse_outcome outcome_of_status(u32 status)
{
	if (status == 401 || status == 403 || status == 407)
		return CLICKHOUSE_DENIED;
	if (status == 400 || status == 413 || status == 415 || status == 422)
		return CLICKHOUSE_REJECTED;
	if (status >= 400 && status < 500 && status != 408 && status != 429)
		return CLICKHOUSE_REFUSED;
	return CLICKHOUSE_UNSURE;
}

static struct meaning meaning_of(u32 code, u32 status)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].code == code)
			return meanings[i];
	return (struct meaning){.outcome = code ? CLICKHOUSE_UNSURE : outcome_of_status(status)};
}

/* Copies the first line and replaces each byte that is not printable. */
static void copy_line(char *text, size_t room, const char *body, size_t bytes)
{
	size_t used = 0;

	for (size_t i = 0; i < bytes && used + 1 < room && body[i] != '\n' && body[i] != '\r'; i++)
		text[used++] = body[i] >= ' ' && body[i] <= '~' ? body[i] : '?';
	text[used] = 0;
}

static void server_error_read(u32 status, const void *body, size_t bytes, struct server_error *out)
{
	u32 code = read_code(body, bytes);
	struct meaning meaning = meaning_of(code, status);
	char shown[SHOWN_MAX];

	copy_line(shown, sizeof(shown), body, bytes);
	*out = (struct server_error){.outcome = meaning.outcome, .code = code};
	if (!code)
		snprintf(out->text, sizeof(out->text), "HTTP status %u%s%s", status,
			 *shown ? ": " : "", shown);
	else
		snprintf(out->text, sizeof(out->text), "%s%s%s", shown, meaning.way_out ? "; " : "",
			 meaning.way_out ? meaning.way_out : "");
}

/* Removes headers of libcurl that the server does not need: the insert of an idle machine is hardly
 * larger than its headers. */
static const char *const short_head[] = {"Accept:", "Content-Type:", NULL};

struct clickhouse {
	struct http *http;
	char *name, *database;
	u32 year; /* 0: unknown yet */
};

/* One request to the server. */
struct call {
	const char *sql;
	const char *database; /* NULL: the server's default */
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
		error_set_errno(error, ENOMEM, options->http.base);
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

/* Appends text with percent encoding. */
static void put_encoded(struct byte_buffer *target, const char *text)
{
	char code[3];

	for (; *text; text++)
		byte_buffer_append(target, code, server_url_encode(*text, code));
}

static void put_table(struct byte_buffer *target, const struct clickhouse_table *table)
{
	put(target, "&");
	put(target, table->name);
	put(target, "_structure=");
	put_encoded(target, table->structure);
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
	put_encoded(target, call->sql);
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
	if (answer.status != 200 ||
	    begins_with_code((const char *)answer.body.data, answer.body.used))
		return call_failed(server, &answer, result, error);
	result->outcome = CLICKHOUSE_DONE;
	return 0;
}

/* The caller frees `body`. */
static int run(struct clickhouse *server, struct call *call, struct byte_buffer *body,
	       struct clickhouse_result *result, struct stackmap_error *error)
{
	struct clickhouse_result unwanted;
	struct byte_buffer target = {0};
	int err;

	put_target(&target, call);
	if (target.failed) {
		err = error_set_errno(error, ENOMEM, server->name);
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

/* The parts of an insert. */
struct insert {
	struct byte_buffer sql, settings;
	struct call call;
};

static int run_insert(struct clickhouse *server, struct insert *insert,
		      struct clickhouse_result *result, struct stackmap_error *error)
{
	byte_buffer_byte(&insert->settings, 0);
	if (insert->sql.failed || insert->settings.failed) {
		if (result)
			*result = (struct clickhouse_result){.outcome = CLICKHOUSE_UNSURE};
		return error_set_errno(error, ENOMEM, server->name);
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
	put(&insert.sql, "INSERT INTO ");
	put(&insert.sql, into);
	put(&insert.sql, " FORMAT RowBinary");
	byte_buffer_byte(&insert.sql, 0);
	if (packed)
		put(&insert.settings, "&decompress=1");
	if (year >= CLICKHOUSE_MODERN) {
		put(&insert.settings, "&async_insert=0&insert_deduplication_token=");
		put_encoded(&insert.settings, token);
	}
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
