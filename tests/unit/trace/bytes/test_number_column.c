/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Number columns: every magnitude and each edge between two codes comes back, and damaged columns
 * are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <stdlib.h>

#include "recording.h"
#include "trace/bytes/number_column.h"
#include "trace_file.h"

struct column {
	struct byte_buffer codes, bits;
};

static void write_column(struct column *column, const u64 *numbers, u32 count)
{
	struct number_writer writer = {.codes = &column->codes, .bits = &column->bits};

	for (u32 i = 0; i < count; i++)
		number_writer_put(&writer, numbers[i]);
	number_writer_finish(&writer);
}

static struct byte_cursor cursor_of(const struct byte_buffer *buffer)
{
	return (struct byte_cursor){.at = buffer->data, .end = buffer->data + buffer->used};
}

static struct number_reader read_column(const struct column *column)
{
	return (struct number_reader){
		.codes = cursor_of(&column->codes),
		.bits = cursor_of(&column->bits),
	};
}

static void check_round_trip(const u64 *numbers, u32 count)
{
	struct column column = {0};
	struct number_reader reader;

	write_column(&column, numbers, count);
	reader = read_column(&column);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(number_reader_get(&reader), numbers[i]);
	assert_true(number_reader_done(&reader));
	number_reader_get(&reader);
	assert_true(reader.bad);
	byte_buffer_free(&column.codes);
	byte_buffer_free(&column.bits);
}

static void test_edges_of_all_codes(void **state)
{
	u64 numbers[64 * 3 + 1];
	u32 count = 0;

	(void)state;
	numbers[count++] = 0;
	for (u32 bit = 0; bit < 64; bit++)
		for (s64 step = -1; step <= 1; step++)
			numbers[count++] = (1ULL << bit) + (u64)step;
	check_round_trip(numbers, count);
}

static void test_random_numbers(void **state)
{
	struct random random = {.state = 5};
	u64 numbers[3000];

	(void)state;
	for (u32 i = 0; i < 3000; i++)
		numbers[i] = random_next(&random) >> random_below(&random, 64);
	check_round_trip(numbers, 3000);
}

/* What the format's size rests on: the code costs a byte, the open bits no more than they are. */
static void test_open_bits_are_packed(void **state)
{
	struct column column = {0};
	u64 numbers[800];

	(void)state;
	for (u32 i = 0; i < 800; i++)
		numbers[i] = 1024 + i;
	write_column(&column, numbers, 800);
	assert_int_equal(column.codes.used, 800);
	assert_int_equal(column.bits.used, 800 * 7 / 8);
	byte_buffer_free(&column.codes);
	byte_buffer_free(&column.bits);
}

static void test_missing_bits_are_bad(void **state)
{
	struct column column = {0};
	struct number_reader reader;
	u64 number = 1000000;

	(void)state;
	write_column(&column, &number, 1);
	reader = read_column(&column);
	reader.bits.end--;
	assert_int_equal(number_reader_get(&reader), 0);
	assert_true(reader.bad);
	assert_false(number_reader_done(&reader));
	byte_buffer_free(&column.codes);
	byte_buffer_free(&column.bits);
}

static void test_unused_codes_are_bad(void **state)
{
	u32 first = NUMBER_SMALL + (NUMBER_EXPONENT_MAX - NUMBER_EXPONENT_MIN + 1) * 8;

	(void)state;
	for (u32 code = first; code < NUMBER_WIDE; code++) {
		u8 bytes[9] = {(u8)code};
		struct number_reader reader = {
			.codes = {.at = bytes, .end = bytes + 1},
			.bits = {.at = bytes + 1, .end = bytes + 9},
		};

		assert_int_equal(number_reader_get(&reader), 0);
		assert_true(reader.bad);
	}
}

static void test_rest_is_not_done(void **state)
{
	struct column column = {0};
	struct number_reader reader;
	u64 numbers[2] = {1, 2};

	(void)state;
	write_column(&column, numbers, 2);
	reader = read_column(&column);
	number_reader_get(&reader);
	assert_false(number_reader_done(&reader));
	byte_buffer_free(&column.codes);
	byte_buffer_free(&column.bits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_of_all_codes),
		cmocka_unit_test(test_random_numbers),
		cmocka_unit_test(test_open_bits_are_packed),
		cmocka_unit_test(test_missing_bits_are_bad),
		cmocka_unit_test(test_unused_codes_are_bad),
		cmocka_unit_test(test_rest_is_not_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
