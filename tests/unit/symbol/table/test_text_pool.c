/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each text is stored once and found at its offset, also when the pool has grown since. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/table/text_pool.h"
#include "unit_test.h"

#define TEXTS 3000

static void text_of(u32 i, char text[64])
{
	snprintf(text, 64, "%.*s%u", (int)(i % 20), "prefix_of_some_name_", i);
}

TEST(a_text_is_put_once)
{
	static u32 offsets[TEXTS];
	struct text_pool pool;
	char text[64], *data;
	u32 offset, bytes;

	assert_int_equal(text_pool_begin(&pool), 0);
	for (u32 i = 0; i < TEXTS; i++) {
		text_of(i, text);
		assert_int_equal(text_pool_put(&pool, text, &offsets[i]), 0);
	}
	bytes = pool.bytes;
	for (u32 i = 0; i < TEXTS; i++) {
		text_of(i, text);
		assert_int_equal(text_pool_put(&pool, text, &offset), 0);
		assert_int_equal(offset, offsets[i]);
	}
	assert_int_equal(pool.bytes, bytes);
	data = text_pool_take(&pool);
	for (u32 i = 0; i < TEXTS; i++) {
		text_of(i, text);
		assert_string_equal(data + offsets[i], text);
		assert_int_equal(data[offsets[i] - 1], 0);
	}
	assert_int_equal(data[bytes - 1], 0);
	free(data);
}

TEST(the_empty_text_is_the_first)
{
	struct text_pool pool;
	u32 offset = 1;

	assert_int_equal(text_pool_begin(&pool), 0);
	assert_int_equal(text_pool_put(&pool, "", &offset), 0);
	assert_int_equal(offset, 0);
	assert_int_equal(pool.bytes, 1);
	free(text_pool_take(&pool));
}

TEST(a_text_is_longer_than_all_before)
{
	static char text[100000];
	struct text_pool pool;
	u32 offset;

	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(text_pool_begin(&pool), 0);
	assert_int_equal(text_pool_put(&pool, text, &offset), 0);
	assert_int_equal(offset, 1);
	assert_string_equal(pool.data + offset, text);
	free(text_pool_take(&pool));
}
