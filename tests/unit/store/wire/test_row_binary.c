/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bytes of rows, the blocks that they travel in, and their checksum as servers compute it. */
#include "store/wire/row_binary.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "unit_test.h"

TEST(values_are_little_endian_and_strings_counted)
{
	static const u8 expected[] = {7, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 8,	   7,	 6,   5,
				      4, 3,    2,    1,	   3,	 'a',  0xc3, 0xa4, 0x80, 0x01};
	struct byte_buffer rows = {0};

	row_put_u8(&rows, 7);
	row_put_u16(&rows, 0x1234);
	row_put_u32(&rows, 0x12345678);
	row_put_u64(&rows, 0x0102030405060708);
	row_put_text(&rows, "a\xc3\xa4");
	row_put_count(&rows, 128);
	assert_int_equal(rows.used, sizeof(expected));
	assert_memory_equal(rows.data, expected, sizeof(expected));
	byte_buffer_free(&rows);
}

TEST(values_are_read_back_as_written)
{
	struct byte_buffer rows = {0};
	struct byte_cursor cursor;
	size_t length;

	row_put_u8(&rows, 0xff);
	row_put_u16(&rows, 0xfffe);
	row_put_u32(&rows, 0xfffffffd);
	row_put_u64(&rows, 0xfffffffffffffffc);
	row_put_text(&rows, "name");
	row_put_count(&rows, 2);
	row_put_bytes(&rows, "xy", 2);
	cursor = (struct byte_cursor){rows.data, rows.data + rows.used, false};
	assert_int_equal(row_get_u8(&cursor), 0xff);
	assert_int_equal(row_get_u16(&cursor), 0xfffe);
	assert_int_equal(row_get_u32(&cursor), 0xfffffffd);
	assert_true(row_get_u64(&cursor) == 0xfffffffffffffffc);
	assert_memory_equal(row_get_text(&cursor, &length), "name", 4);
	assert_int_equal(length, 4);
	assert_int_equal(row_get_count(&cursor), 2);
	assert_memory_equal(row_get_bytes(&cursor, 2), "xy", 2);
	assert_false(cursor.bad);
	assert_int_equal(byte_cursor_left(&cursor), 0);
	byte_buffer_free(&rows);
}

/* The server may claim any length. */
TEST(lengths_beyond_the_answer_are_refused)
{
	static const u8 text[] = {200, 1, 'a'},
			huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
	struct byte_cursor cursor = {text, text + sizeof(text), false};
	size_t length = 9;

	assert_string_equal(row_get_text(&cursor, &length), "");
	assert_int_equal(length, 0);
	assert_true(cursor.bad);
	cursor = (struct byte_cursor){huge, huge + sizeof(huge), false};
	assert_int_equal(row_get_count(&cursor), 0);
	assert_true(cursor.bad);
	cursor = (struct byte_cursor){text, text + sizeof(text), false};
	assert_int_equal(row_get_u32(&cursor), 0);
	assert_true(cursor.bad);
}

/* Checksums that ClickHouse 18.16 gives for blocks with these bytes: the method of no compression,
 * the two lengths, and a pattern. */
TEST(checksums_are_those_of_the_server)
{
	static const struct {
		u32 bytes;
		const char *checksum;
	} blocks[] = {
		{144, "6a8766e14dd316f21a1dac7584b636cb"},
		{145, "4ea6cdc3f7e17109acc26000d2a6a272"},
		{176, "a25d001ba2cd25d498c9ea4b9b8e1c2d"},
		{207, "c0f06084cec2b4366eb2b2f88fce4312"},
		{272, "29aac1403db9819d83fd2dea51e4d017"},
		{300, "c945d9fc48575383862b6e26260833a1"},
		{1000, "42eaa3f7bf3eddbf6f561feb4c7daffe"},
	};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		u32 sizes[2] = {blocks[i].bytes, blocks[i].bytes - 9};
		struct city_hash hash;
		u8 block[1000];
		char text[33];

		block[0] = 0x02;
		memcpy(block + 1, sizes, sizeof(sizes));
		for (u32 b = 0; b < sizes[1]; b++)
			block[9 + b] = (u8)(b * 7 + (b >> 3));
		hash = city_hash_128(block, blocks[i].bytes);
		snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)hash.low,
			 (unsigned long long)hash.high);
		assert_string_equal(text, blocks[i].checksum);
	}
}

static u8 *make_random_bytes(size_t bytes)
{
	u8 *data = malloc(bytes);
	u64 random = 1;

	assert_non_null(data);
	for (size_t i = 0; i < bytes; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		data[i] = (u8)(random >> 56);
	}
	return data;
}

/* Unpacks one block of `packed` to `plain`; returns the address behind the block. */
static const u8 *unpack_compressed_block(const u8 *packed, u8 *plain, u32 *bytes)
{
	struct city_hash hash;
	u32 sizes[2];

	assert_int_equal(packed[16], 0x90);
	memcpy(sizes, packed + 17, sizeof(sizes));
	hash = city_hash_128(packed + 16, sizes[0]);
	assert_memory_equal(&hash, packed, sizeof(hash));
	assert_int_equal(ZSTD_decompress(plain, sizes[1], packed + 25, sizes[0] - 9), sizes[1]);
	*bytes = sizes[1];
	return packed + 16 + sizes[0];
}

TEST(blocks_hold_the_rows)
{
	size_t bytes = PACKED_BLOCK_BYTES + 1000;
	u8 *rows = make_random_bytes(bytes), *plain = malloc(bytes);
	struct byte_buffer packed = {0};
	const u8 *at;
	u32 first, second;

	assert_non_null(plain);
	assert_int_equal(packed_rows_append(&packed, rows, bytes), 0);
	at = unpack_compressed_block(packed.data, plain, &first);
	at = unpack_compressed_block(at, plain + first, &second);
	assert_ptr_equal(at, packed.data + packed.used);
	assert_int_equal(first, PACKED_BLOCK_BYTES);
	assert_int_equal(first + second, bytes);
	assert_memory_equal(plain, rows, bytes);
	byte_buffer_free(&packed);
	free(plain);
	free(rows);
}

/* The rest of a body behind its last whole block is also sent unchanged. */
TEST(short_rows_are_not_compressed)
{
	u8 *rows = make_random_bytes(PACKED_BLOCK_BYTES + 5);
	struct byte_buffer packed = {0};

	byte_buffer_byte(&packed, 'x');
	assert_int_equal(packed_rows_append(&packed, rows, 50), -ENODATA);
	assert_int_equal(packed_rows_append(&packed, rows, 0), -ENODATA);
	assert_int_equal(packed_rows_append(&packed, rows, PACKED_BLOCK_BYTES + 5), -ENODATA);
	assert_int_equal(packed.used, 1);
	byte_buffer_free(&packed);
	free(rows);
}
