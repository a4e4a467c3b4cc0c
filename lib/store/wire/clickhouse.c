/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A statement is sent in the URL, as the parameter `query`, and rows as the request's body. With
 * external tables the body is a form with a part for each table, and the structure and format of
 * the tables are URL parameters.
 *
 * With `wait_end_of_query` the server holds its answer back until the query has ended. Without it,
 * a query that fails half-way has already been answered with 200.
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
#include "store/wire/row_binary.h"

#define COMPLAINT_BYTES_MAX (64U << 10) /* size limit for an answer that should be empty */
#define VERSION_BYTES_MAX 256
#define TABLES_MAX 16

/* --- errors of the server --- */

/*
 * An error message begins with "Code: N", whatever the HTTP status is: version 18.16 answers 500 to
 * a wrong column, and some versions answer 200 to a late failure.
 */

/* The codes are those of ClickHouse's ErrorCodes.cpp; their meaning never changes. */

#define PREFIX "Code: "
#define CODE_MAX 100000
#define SHOWN_MAX 240

struct meaning {
	u32 code;
	enum clickhouse_outcome outcome;
	const char *way_out; /* advice for the user, shown after the server's message; NULL: no
				advice */
};

#define NO_SCHEMA "stackmap store init makes what is missing"
#define LOG_IN "--user and --password-file say who you are"
#define GRANT "the user needs the right to do this"

/* The meanings of the server's error codes. Any other code counts as a transient failure. */
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

static bool begins_with_error_code(const char *body, size_t bytes)
{
	return bytes > strlen(PREFIX) && !memcmp(body, PREFIX, strlen(PREFIX));
}

static u32 read_error_code(const char *body, size_t bytes)
{
	u32 code = 0;

	if (!begins_with_error_code(body, bytes))
		return 0;
	for (size_t i = strlen(PREFIX); i < bytes && code < CODE_MAX; i++) {
		if (body[i] < '0' || body[i] > '9')
			break;
		code = code * 10 + (u32)(body[i] - '0');
	}
	return code;
}

/* The meaning of an answer without an error code, such as an answer of a proxy. */
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

/* Removes headers of libcurl that the server does not need: the insert of an idle machine is hardly
 * larger than its headers. */
static const char *const short_head[] = {"Accept:", "Content-Type:", NULL};

struct clickhouse {
	struct http *http;
	char *name, *database;
	u32 year; /* year of the server's version; 0: unknown yet */
};

/* One request to the server. */
struct call {
	const char *sql;
	const char *database; /* name of the database; NULL: the server's default */
	const char *settings; /* settings as URL parameters, "&name=value" each */
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

static void append_text(struct byte_buffer *target, const char *text)
{
	byte_buffer_append(target, text, strlen(text));
}

/* Appends text with percent encoding. */
static void append_percent_encoded(struct byte_buffer *target, const char *text)
{
	char code[3];

	for (; *text; text++)
		byte_buffer_append(target, code, server_url_percent_encode_byte(*text, code));
}

static void append_request_target(struct byte_buffer *target, const struct call *call)
{
	append_text(target, "/?");
	if (call->database) {
		append_text(target, "database=");
		append_text(target, call->database);
		append_text(target, "&");
	}
	append_text(target, "query=");
	append_percent_encoded(target, call->sql);
	append_text(target, call->settings);
	for (u32 i = 0; i < call->table_count; i++) {
		append_text(target, "&");
		append_text(target, call->tables[i].name);
		append_text(target, "_structure=");
		append_percent_encoded(target, call->tables[i].structure);
		append_text(target, "&");
		append_text(target, call->tables[i].name);
		append_text(target, "_format=RowBinary");
	}
	byte_buffer_byte(target, 0);
}

/*
 * Sets *result for an answer that reports an error. The error message becomes one printable line,
 * with advice for the user.
 */
static int set_call_error(struct clickhouse *server, const struct http_answer *answer,
			  struct clickhouse_result *result, struct stackmap_error *error)
{
	const char *body = (const char *)answer->body.data;
	size_t bytes = answer->body.used, used = 0;
	u32 code = read_error_code(body, bytes);
	struct meaning meaning = {.outcome = code ? CLICKHOUSE_UNSURE
						  : outcome_of_status(answer->status)};
	char shown[SHOWN_MAX];
	int err;

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].code == code)
			meaning = meanings[i];
	err = meaning.outcome == CLICKHOUSE_DENIED ? EACCES : EREMOTEIO;
	result->outcome = meaning.outcome;
	result->code = code;
	/* The first line of the message, without bytes that are not printable. */
	for (size_t i = 0;
	     i < bytes && used + 1 < sizeof(shown) && body[i] != '\n' && body[i] != '\r'; i++)
		shown[used++] = body[i] >= ' ' && body[i] <= '~' ? body[i] : '?';
	shown[used] = 0;
	if (!code)
		return error_set(error, err, "%s: HTTP status %u%s%s", server->name, answer->status,
				 *shown ? ": " : "", shown);
	return error_set(error, err, "%s: %s%s%s", server->name, shown, meaning.way_out ? "; " : "",
			 meaning.way_out ? meaning.way_out : "");
}

static int send_request(struct clickhouse *server, struct call *call, struct byte_buffer *target,
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
	    begins_with_error_code((const char *)answer.body.data, answer.body.used))
		return set_call_error(server, &answer, result, error);
	result->outcome = CLICKHOUSE_DONE;
	return 0;
}

/* Sends a request and receives the answer. The caller frees `body`. */
static int send_statement(struct clickhouse *server, struct call *call, struct byte_buffer *body,
			  struct clickhouse_result *result, struct stackmap_error *error)
{
	struct clickhouse_result unwanted;
	struct byte_buffer target = {0};
	int err;

	append_request_target(&target, call);
	if (target.failed) {
		err = error_set_errno(error, ENOMEM, server->name);
		if (result)
			*result = (struct clickhouse_result){.outcome = CLICKHOUSE_UNSURE};
	} else {
		err = send_request(server, call, &target, body, result ? result : &unwanted, error);
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
	return send_statement(server, &call, answer, result, error);
}

static int send_statement_and_drop_answer(struct clickhouse *server, struct call *call,
					  struct clickhouse_result *result,
					  struct stackmap_error *error)
{
	struct byte_buffer body = {0};
	int err;

	call->http.most_bytes = COMPLAINT_BYTES_MAX;
	err = send_statement(server, call, &body, result, error);
	byte_buffer_free(&body);
	return err;
}

int clickhouse_execute(struct clickhouse *server, const char *sql, const char *settings,
		       struct stackmap_error *error)
{
	struct call call = {.sql = sql, .settings = settings, .http = {.body = ""}};

	return send_statement_and_drop_answer(server, &call, NULL, error);
}

int clickhouse_year(struct clickhouse *server, u32 *year, struct clickhouse_result *result,
		    struct stackmap_error *error)
{
	struct call call = {.sql = "SELECT version() FORMAT TabSeparated",
			    .settings = "",
			    .http = {.body = "", .most_bytes = VERSION_BYTES_MAX}};
	struct byte_buffer answer = {0};
	int err = server->year ? 0 : send_statement(server, &call, &answer, result, error);

	if (!err && !server->year) {
		for (size_t i = 0;
		     i < answer.used && isdigit(answer.data[i]) && server->year < 1000; i++)
			server->year = server->year * 10 + (answer.data[i] - '0');
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

int clickhouse_insert_packed(struct clickhouse *server, const char *into, const void *rows,
			     size_t bytes, bool packed, const char *token,
			     struct clickhouse_result *result, struct stackmap_error *error)
{
	struct call call = {.database = server->database, .http = {.body = rows, .length = bytes}};
	struct byte_buffer sql = {0}, settings = {0};
	u32 year = 0;
	int err = token ? clickhouse_year(server, &year, result, error) : 0;

	if (err)
		return err;
	append_text(&sql, "INSERT INTO ");
	append_text(&sql, into);
	append_text(&sql, " FORMAT RowBinary");
	byte_buffer_byte(&sql, 0);
	if (packed)
		append_text(&settings, "&decompress=1");
	if (year >= CLICKHOUSE_MODERN) {
		append_text(&settings, "&async_insert=0&insert_deduplication_token=");
		append_percent_encoded(&settings, token);
	}
	byte_buffer_byte(&settings, 0);
	if (sql.failed || settings.failed) {
		if (result)
			*result = (struct clickhouse_result){.outcome = CLICKHOUSE_UNSURE};
		err = error_set_errno(error, ENOMEM, server->name);
	} else {
		call.sql = (const char *)sql.data;
		call.settings = (const char *)settings.data;
		err = send_statement_and_drop_answer(server, &call, result, error);
	}
	byte_buffer_free(&sql);
	byte_buffer_free(&settings);
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
