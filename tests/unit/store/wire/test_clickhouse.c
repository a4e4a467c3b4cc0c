/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to a server and the reading of its answers: the server's error code counts, not the HTTP
 * status. */
#include "store/wire/clickhouse.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canned_server.h"
#include "unit_test.h"

#define KEPT(body) "HTTP/1.1 200 OK\r\nDate: Wed, 25 Nov 2026 20:00:00 GMT\r\nContent-Length: " body
#define OK(body)                                                                                   \
	"HTTP/1.1 200 OK\r\nConnection: close\r\nDate: Wed, 25 Nov 2026 20:00:00 "                 \
	"GMT\r\nContent-Length: " body
#define CLOSED(status) "HTTP/1.1 " status "\r\nConnection: close\r\n\r\n"

static struct canned_server canned;
static struct clickhouse *server;
static struct clickhouse_result result;
static struct stackmap_error error;

static void begin(const struct canned_answer *answers, unsigned int count, u32 timeout_ms)
{
	char base[64];
	struct clickhouse_options options = {.http = {.base = base,
						      .user = "me",
						      .password = "se:cret",
						      .timeout_ms = timeout_ms},
					     .database = "stackmap"};
	int err;

	canned_server_clear(&canned);
	canned_server_start(&canned, answers, count);
	snprintf(base, sizeof(base), "http://127.0.0.1:%u", canned.port);
	error.message[0] = 0;
	err = clickhouse_open(&options, &server, &error);
	if (err != -ENOSYS) {
		assert_int_equal(err, 0);
		return;
	}
	print_message("%s\n", error.message);
	canned_server_stop(&canned);
	skip();
}

static void end(void)
{
	clickhouse_close(&server);
	canned_server_stop(&canned);
}

static const char *request(unsigned int number)
{
	return (const char *)canned.requests[number].data;
}

static int query(struct byte_buffer *answer)
{
	return clickhouse_query(server, "SELECT 1 FORMAT RowBinary", NULL, 0, 1000, answer, &result,
				&error);
}

TEST(an_answer_is_its_bytes_and_a_date)
{
	static const struct canned_answer answers[] = {{OK("3\r\n\r\nabc"), false, false}};
	struct byte_buffer answer;

	begin(answers, 1, 60000);
	assert_int_equal(query(&answer), 0);
	assert_int_equal(result.outcome, CLICKHOUSE_DONE);
	assert_int_equal(result.date, 1795636800);
	assert_int_equal(answer.used, 3);
	assert_memory_equal(answer.data, "abc", 3);
	byte_buffer_free(&answer);
	end();
	assert_non_null(strstr(request(0), "query=SELECT%201%20FORMAT%20RowBinary"));
	assert_non_null(strstr(request(0), "database=stackmap"));
	assert_non_null(strstr(request(0), "Authorization: Basic bWU6c2U6Y3JldA==\r\n"));
	assert_null(strstr(request(0), "cret&"));
}

TEST(codes_say_what_a_failure_means)
{
	static const struct {
		const char *answer;
		enum clickhouse_outcome outcome;
		u32 code;
	} failures[] = {
		{CLOSED("500 Oops") "Code: 193, e.displayText() = DB::Exception: Wrong password",
		 CLICKHOUSE_DENIED, 193},
		{CLOSED("403 No") "Code: 516. DB::Exception: Authentication failed",
		 CLICKHOUSE_DENIED, 516},
		{CLOSED("500 Oops") "Code: 60, e.displayText() = DB::Exception: Table x.y",
		 CLICKHOUSE_REFUSED, 60},
		{CLOSED("404 None") "Code: 252, e.displayText() = DB::Exception: Too many parts",
		 CLICKHOUSE_UNSURE, 252},
		{CLOSED("200 OK") "Code: 241. DB::Exception: Memory limit", CLICKHOUSE_UNSURE, 241},
		{CLOSED("200 OK") "Code: 16. DB::Exception: No such column", CLICKHOUSE_REFUSED,
		 16},
		{CLOSED("500 Oops") "Code: 117. DB::Exception: Incorrect data", CLICKHOUSE_REJECTED,
		 117},
		{CLOSED("413 Too Large") "<html>", CLICKHOUSE_REJECTED, 0},
		{CLOSED("401 No") "who are you", CLICKHOUSE_DENIED, 0},
		{CLOSED("502 Bad Gateway") "<html>", CLICKHOUSE_UNSURE, 0},
		{CLOSED("404 Not Found") "<html>", CLICKHOUSE_REFUSED, 0},
		{CLOSED("429 Slow down") "", CLICKHOUSE_UNSURE, 0},
		{CLOSED("500 Oops") "Code: 99999999999999999999, x", CLICKHOUSE_UNSURE, 999999},
	};

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		struct canned_answer answer = {failures[i].answer, false, false};

		begin(&answer, 1, 60000);
		assert_int_not_equal(
			clickhouse_insert(server, "events", "rows", 4, NULL, &result, &error), 0);
		assert_int_equal(result.outcome, failures[i].outcome);
		assert_int_equal(result.code, failures[i].code);
		assert_non_null(strstr(error.message, "http://127.0.0.1:"));
		end();
	}
}

/* Messages have no control sequences of terminals. */
TEST(complaints_are_one_printable_line)
{
	static const struct canned_answer answers[] = {
		{CLOSED("500 Oops") "Code: 60. \033[31mred\nsecond line", false, false}};
	struct byte_buffer answer;

	begin(answers, 1, 60000);
	assert_int_not_equal(query(&answer), 0);
	byte_buffer_free(&answer);
	assert_null(strchr(error.message, '\033'));
	assert_null(strstr(error.message, "second"));
	end();
}

TEST(other_failures_have_an_error)
{
	static const struct {
		struct canned_answer answer;
		int err;
		enum clickhouse_outcome outcome;
	} failures[] = {
		{{CLOSED("302 Found"), false, false}, -EPROTO, CLICKHOUSE_DENIED},
		{{OK("2000\r\n\r\nabc"), false, false}, -EIO, CLICKHOUSE_UNSURE},
		{{NULL, false, false}, -EIO, CLICKHOUSE_UNSURE},
		{{NULL, false, true}, -ETIMEDOUT, CLICKHOUSE_UNSURE},
	};

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		struct byte_buffer answer;

		begin(&failures[i].answer, 1, failures[i].answer.waits ? 300 : 60000);
		assert_int_equal(query(&answer), failures[i].err);
		assert_int_equal(result.outcome, failures[i].outcome);
		byte_buffer_free(&answer);
		end();
	}
}

TEST(answers_are_bounded)
{
	static char text[1200] = OK("1001\r\n\r\n");
	struct canned_answer answers[] = {{text, false, false}};
	struct byte_buffer answer;

	memset(text + strlen(text), 'x', 1001);
	begin(answers, 1, 60000);
	assert_int_equal(query(&answer), -EFBIG);
	byte_buffer_free(&answer);
	end();
}

/* The server sends its complaint without end. */
TEST(a_complaint_without_an_end_is_cut)
{
	static const struct canned_answer answers[] = {
		{.text = CLOSED("500 Oops") "Code: 117.", .endless = " no, no, no, no, no, no"}};
	struct byte_buffer answer;

	begin(answers, 1, 60000);
	assert_int_equal(query(&answer), -EREMOTEIO);
	assert_int_equal(result.code, 117);
	assert_int_equal(answer.used, HTTP_COMPLAINT_BYTES);
	assert_true(clickhouse_bytes_received(server) < 1 << 20);
	byte_buffer_free(&answer);
	end();
}

TEST(headers_are_bounded)
{
	static const struct canned_answer answers[] = {
		{.text = "HTTP/1.1 200 OK\r\n", .endless = "X-More: and more, and more\r\n"}};
	struct byte_buffer answer;

	begin(answers, 1, 60000);
	assert_int_equal(query(&answer), -EFBIG);
	assert_true(clickhouse_bytes_received(server) < 1 << 20);
	byte_buffer_free(&answer);
	end();
}

static int open_at(const char *base, const char *password, const char *bearer, bool allowed)
{
	struct http_options options = {.base = base,
				       .user = "me",
				       .password = password,
				       .bearer = bearer,
				       .allows_cleartext = allowed,
				       .timeout_ms = 1000};
	struct http *http = NULL;
	int err = http_open(&options, &http, &error);

	http_close(&http);
	return err == -ENOSYS ? 0 : err;
}

TEST(secrets_go_in_cleartext_when_asked_to)
{
	assert_int_equal(open_at("http://store.example:8123", "x", NULL, false), -EINVAL);
	assert_int_equal(open_at("http://store.example:8123", NULL, "x", false), -EINVAL);
	assert_non_null(strstr(error.message, "--allow-cleartext"));
	assert_int_equal(open_at("http://127.0.0.1.example:8123", "x", NULL, false), -EINVAL);
	assert_int_equal(open_at("http://store.example:8123", "x", NULL, true), 0);
	assert_int_equal(open_at("http://store.example:8123", NULL, NULL, false), 0);
	assert_int_equal(open_at("https://store.example:8443", "x", NULL, false), 0);
	assert_int_equal(open_at("http://localhost:8123", "x", NULL, false), 0);
}

/* A kept connection ends without an answer: the server may have stored the rows. */
TEST(rows_are_never_sent_again_silently)
{
	static const struct canned_answer answers[] = {{KEPT("0\r\n\r\n"), true, false},
						       {NULL, false, false},
						       {OK("0\r\n\r\n"), false, false}};

	begin(answers, 3, 60000);
	assert_int_equal(clickhouse_insert(server, "events", "rows", 4, NULL, &result, &error), 0);
	assert_int_equal(clickhouse_insert(server, "events", "rows", 4, NULL, &result, &error),
			 -EIO);
	assert_int_equal(result.outcome, CLICKHOUSE_UNSURE);
	end();
	assert_int_equal(canned.request_count, 2);
}

TEST(tables_of_a_query_are_parts_of_a_form)
{
	static const struct canned_answer answers[] = {{OK("0\r\n\r\n"), false, false}};
	struct clickhouse_table table = {"wanted", "host String", "\x04it's", 5};
	struct byte_buffer answer;

	begin(answers, 1, 60000);
	assert_int_equal(
		clickhouse_query(server, "SELECT 1", &table, 1, 10, &answer, &result, &error), 0);
	byte_buffer_free(&answer);
	end();
	assert_non_null(strstr(request(0), "&wanted_structure=host%20String&wanted_format="
					   "RowBinary"));
	assert_non_null(strstr(request(0), "Content-Type: multipart/form-data; boundary="));
	assert_non_null(strstr(request(0), "name=\"wanted\"; filename=\"wanted\""));
	assert_non_null(strstr(request(0), "\r\n\r\n\x04it's\r\n--"));
}

TEST(tokens_are_sent_to_servers_that_support_them)
{
	static const struct canned_answer answers[] = {{OK("10\r\n\r\n26.7.3.1\n\n"), false, false},
						       {OK("0\r\n\r\n"), false, false},
						       {OK("0\r\n\r\n"), false, false}};
	static const struct canned_answer old[] = {{OK("8\r\n\r\n18.16.1\n"), false, false},
						   {OK("0\r\n\r\n"), false, false}};

	begin(answers, 3, 60000);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(
			clickhouse_insert(server, "events", "rows", 4, "a/b c", &result, &error),
			0);
	end();
	assert_non_null(strstr(request(0), "version%28%29"));
	assert_non_null(strstr(request(1), "&insert_deduplication_token=a%2Fb%20c "));
	assert_non_null(strstr(request(2), "&insert_deduplication_token=a%2Fb%20c "));
	begin(old, 2, 60000);
	assert_int_equal(clickhouse_insert(server, "events", "rows", 4, "a/b", &result, &error), 0);
	end();
	assert_null(strstr(request(1), "token"));
}

int main(void)
{
	int failed = unit_tests_run();

	canned_server_clear(&canned);
	return failed;
}
