/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The codes are those of ClickHouse's ErrorCodes.cpp; their meaning never changes. */
#include "store/wire/server_error.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "Code: "
#define CODE_MAX 100000
#define SHOWN_MAX 240

struct meaning {
	u32 code;
	enum clickhouse_outcome outcome;
	const char *way_out; /* NULL: the server's own words are all there is */
};

#define NO_SCHEMA "stackmap store init makes what is missing"
#define LOG_IN "--user and --password-file say who you are"
#define GRANT "the user needs the right to do this"

/* What is in no list is taken for a failure that passes. */
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

bool server_error_is(u32 status, const void *body, size_t bytes)
{
	return status != 200 || begins_with_code(body, bytes);
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

/* A server that is in between, a proxy, has no codes. */
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

/* Up to the first line's end, and nothing that a terminal would obey. */
static void copy_line(char *text, size_t room, const char *body, size_t bytes)
{
	size_t used = 0;

	for (size_t i = 0; i < bytes && used + 1 < room && body[i] != '\n' && body[i] != '\r'; i++)
		text[used++] = body[i] >= ' ' && body[i] <= '~' ? body[i] : '?';
	text[used] = 0;
}

void server_error_read(u32 status, const void *body, size_t bytes, struct server_error *out)
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
