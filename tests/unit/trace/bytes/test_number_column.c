/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Number columns: every magnitude and each edge between two codes comes back, and damaged columns
 * are refused. */

#include <stdint.h>
#include <stdlib.h>

#include "recording.h"
#include "trace/bytes/number_column.h"
#include "trace_file.h"
#include "unit_test.h"

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

TEST(edges_of_all_codes)
{
	u64 numbers[64 * 3 + 1];
	u32 count = 0;

	numbers[count++] = 0;
	for (u32 bit = 0; bit < 64; bit++)
		for (s64 step = -1; step <= 1; step++)
			numbers[count++] = (1ULL << bit) + (u64)step;
	check_round_trip(numbers, count);
}

TEST(random_numbers)
{
	struct random random = {.state = 5};
	u64 numbers[3000];

	for (u32 i = 0; i < 3000; i++)
		numbers[i] = random_next(&random) >> random_below(&random, 64);
	check_round_trip(numbers, 3000);
}

/* The size of the format depends on this: a code takes a byte, and open bits are packed without
 * gaps. */
TEST(open_bits_are_packed)
{
	struct column column = {0};
	u64 numbers[800];

	for (u32 i = 0; i < 800; i++)
		numbers[i] = 1024 + i;
	write_column(&column, numbers, 800);
	assert_int_equal(column.codes.used, 800);
	assert_int_equal(column.bits.used, 800 * 7 / 8);
	byte_buffer_free(&column.codes);
	byte_buffer_free(&column.bits);
}

TEST(missing_bits_are_bad)
{
	struct column column = {0};
	struct number_reader reader;
	u64 number = 1000000;

	write_column(&column, &number, 1);
	reader = read_column(&column);
	reader.bits.end--;
	assert_int_equal(number_reader_get(&reader), 0);
	assert_true(reader.bad);
	assert_false(number_reader_done(&reader));
	byte_buffer_free(&column.codes);
	byte_buffer_free(&column.bits);
}

TEST(unused_codes_are_bad)
{
	u32 first = NUMBER_SMALL + (NUMBER_EXPONENT_MAX - NUMBER_EXPONENT_MIN + 1) * 8;

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

TEST(a_reader_with_unread_numbers_is_not_done)
{
	struct column column = {0};
	struct number_reader reader;
	u64 numbers[2] = {1, 2};

	write_column(&column, numbers, 2);
	reader = read_column(&column);
	number_reader_get(&reader);
	assert_false(number_reader_done(&reader));
	byte_buffer_free(&column.codes);
	byte_buffer_free(&column.bits);
}
