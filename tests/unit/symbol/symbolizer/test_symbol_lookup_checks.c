/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sandbox is under an attacker's control and sends malicious answers. They must be refused, and
 * the next request goes to a new sandbox. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "privilege/message.h"
#include "sample_record.h"
#include "symbol/file/mapped_file.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/symbolizer/symbol_lookup.h"
#include "symbol/symbolizer/symbol_service.h"
#include "unit_test.h"

#define ASKED 0x1000

struct lie {
	struct symbol_answer answer;
	struct symbol_item symbol[2];
	const char *name; /* name of each symbol */
	u32 name_bytes;
	u32 symbols;  /* sent */
	bool is_bare; /* only the name is sent, without a head */
};

#define TRUTH                                                                                      \
	{                                                                                          \
		.answer = {.symbols = 1}, .symbol = {{.start = ASKED - 8, .size = 16}},            \
		.name = "true", .name_bytes = 4, .symbols = 1                                      \
	}

static struct lie lie;

static void send_false_answer(int socket)
{
	u64 bytes = lie.symbols * (sizeof(lie.symbol[0]) + lie.name_bytes);
	u32 i;

	lie.answer.bytes = lie.answer.bytes ?: bytes;
	message_send(socket, &lie.answer, sizeof(lie.answer), MESSAGE_NO_DEADLINE);
	if (lie.is_bare)
		message_send(socket, lie.name, lie.name_bytes, MESSAGE_NO_DEADLINE);
	for (i = 0; i < lie.symbols; i++) {
		lie.symbol[i].name_bytes = lie.symbol[i].name_bytes ?: lie.name_bytes;
		message_send(socket, &lie.symbol[i], sizeof(lie.symbol[i]), MESSAGE_NO_DEADLINE);
		message_send(socket, lie.name, lie.name_bytes, MESSAGE_NO_DEADLINE);
	}
}

/* Replaces the service of the program under test: sends the answer that was chosen when the sandbox
 * was started. */
void symbol_serve(int socket)
{
	struct symbol_request request;
	int files[MESSAGE_FILES_MAX];
	u64 addresses[4];

	while (!message_receive_files(socket, &request, sizeof(request), files,
				      MESSAGE_NO_DEADLINE)) {
		close(files[0]);
		close(files[1]);
		message_receive(socket, addresses, request.addresses * sizeof(u64),
				MESSAGE_NO_DEADLINE);
		send_false_answer(socket);
	}
}

static int count(void *arg, const struct trace_symbol *symbol, bool is_undivided)
{
	(void)is_undivided;
	(void)symbol;
	++*(u32 *)arg;
	return 0;
}

/* The number of accepted symbols; *distrusted: true if the sandbox was ended. */
static u32 count_accepted_false_symbols(const struct lie *claimed, bool *distrusted)
{
	const u64 addresses[2] = {ASKED, ASKED + 4};
	struct symbol_lookup *lookup;
	u32 symbols = 0;
	struct kernel_files kernel;
	struct symbol_query query = {
		.addresses = addresses,
		.count = 2,
		.each = count,
		.arg = &symbols,
	};

	lie = *claimed;
	kernel_files_open(&kernel);
	query.kernel_files = (int[]){kernel.kallsyms, kernel.modules, -1, -1};
	assert_int_equal(symbol_lookup_create(4, &lookup), 0);
	assert_int_equal(symbol_lookup_find(lookup, &query), 0);
	*distrusted = !symbol_lookup_sandbox_pid(lookup);
	assert_int_equal(symbol_lookup_take_failures(lookup), *distrusted);
	assert_int_equal(symbol_lookup_take_failures(lookup), 0);
	symbol_lookup_free(&lookup);
	kernel_files_close(&kernel);
	return symbols;
}

static void assert_refused(const struct lie *lie)
{
	bool distrusted;

	assert_int_equal(count_accepted_false_symbols(lie, &distrusted), 0);
	assert_true(distrusted);
}

TEST(valid_answers_are_accepted)
{
	const struct lie truth = TRUTH;
	bool distrusted;

	assert_int_equal(count_accepted_false_symbols(&truth, &distrusted), 1);
	assert_false(distrusted);
}

TEST(symbols_that_cover_nothing)
{
	static const struct symbol_item bad[] = {
		{.start = ASKED + 5, .size = 16},
		{.start = ASKED - 8, .size = 8},
		{.start = ASKED, .size = 0},
		{.start = ~0ULL, .size = ~0ULL},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lie lie = TRUTH;

		lie.symbol[0] = bad[i];
		assert_refused(&lie);
	}
}

TEST(more_symbols_than_addresses)
{
	struct lie lie = TRUTH;

	lie.answer.symbols = 3;
	assert_refused(&lie);
}

TEST(fewer_bytes_than_symbols)
{
	struct lie lie = TRUTH;

	lie.answer.symbols = 2;
	lie.answer.bytes = sizeof(struct symbol_item) + 4;
	lie.symbols = 1;
	lie.symbol[0].name_bytes = 5;
	assert_refused(&lie);
	lie.symbol[0].name_bytes = ~0U;
	assert_refused(&lie);
}

TEST(a_name_that_is_no_text)
{
	struct lie lie = TRUTH;

	lie.name = "tr\0e";
	assert_refused(&lie);
}

TEST(too_many_bytes)
{
	struct lie lie = TRUTH;

	lie.answer.bytes = 1ULL << 60;
	assert_refused(&lie);
}

TEST(a_false_error_is_refused)
{
	struct lie lie = TRUTH;

	lie.answer.result = 1;
	assert_refused(&lie);
}

TEST(more_unread_files_than_there_are)
{
	struct lie lie = TRUTH;

	lie.answer.unread = MESSAGE_FILES_MAX + 1;
	assert_refused(&lie);
}

/* The first of two symbols has been accepted when the second one is found to be wrong. */
TEST(symbols_out_of_order)
{
	struct lie lie = TRUTH;
	bool distrusted;

	lie.answer.symbols = lie.symbols = 2;
	lie.symbol[1] = lie.symbol[0];
	assert_int_equal(count_accepted_false_symbols(&lie, &distrusted), 1);
	assert_true(distrusted);
}

/* The rules of a file, then its rows. */
struct lie_of_rows {
	struct symbol_answer answer;
	struct unwind_rule rule;
	struct code_row row[2];
};

#define TRUE_ROWS                                                                                  \
	{                                                                                          \
		.answer = {.rows = 2,                                                              \
			   .rules = 1,                                                             \
			   .bytes = sizeof(struct unwind_rule) + 2 * sizeof(struct code_row)},     \
		.rule = {.base = RULE_BASE_CFA},                                                   \
		.row = { {100, 1},                                                                 \
			 {200, 0} }                                                                \
	}

/* Sends the rows as the name of one symbol without a head. */
static int read_rows_of_false_answer(const struct lie_of_rows *told, bool *distrusted)
{
	struct mapping_record record;
	struct code_rows rows = {};
	struct symbol_lookup *lookup;
	int result;

	sample_record_file(&record, "/etc/passwd");
	lie = (struct lie){.answer = told->answer,
			   .name = (const char *)&told->rule,
			   .name_bytes = sizeof(told->rule) + sizeof(told->row),
			   .is_bare = true};
	assert_int_equal(symbol_lookup_create(4, &lookup), 0);
	result = symbol_lookup_read_unwind_rows(lookup, &record, mapped_file_open, -1, true, &rows);
	*distrusted = !symbol_lookup_sandbox_pid(lookup);
	code_rows_clear(&rows);
	symbol_lookup_free(&lookup);
	return result;
}

TEST(valid_rows_are_accepted)
{
	const struct lie_of_rows truth = TRUE_ROWS;
	bool distrusted;

	assert_int_equal(read_rows_of_false_answer(&truth, &distrusted), 0);
	assert_false(distrusted);
}

static void assert_rows_refused(const struct lie_of_rows *lie)
{
	bool distrusted;

	assert_int_not_equal(read_rows_of_false_answer(lie, &distrusted), 0);
	assert_true(distrusted);
}

TEST(invalid_rows_are_refused)
{
	const struct lie_of_rows truth = TRUE_ROWS;
	struct lie_of_rows lie = truth;

	lie.row[1].offset = 100;
	assert_rows_refused(&lie);
	lie = truth;
	lie.row[0].rule = 2;
	assert_rows_refused(&lie);
	lie = truth;
	lie.rule.cfa_register = REGISTER_PC;
	assert_rows_refused(&lie);
	lie = truth;
	lie.answer.bytes--;
	assert_rows_refused(&lie);
	lie = truth;
	lie.answer.rows = CODE_ROWS_MAX + 1;
	assert_rows_refused(&lie);
	lie = truth;
	lie.answer.rules = ~0U;
	assert_rows_refused(&lie);
}
