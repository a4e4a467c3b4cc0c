/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each key has one entry, each text has one copy, and addresses do not change. */
#include "intern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define KEYS 10000

struct thing {
	struct intern_key key;
	u64 number;
};

TEST(entries_stay_where_they_are)
{
	struct intern table = INTERN(struct thing);
	struct thing *first[KEYS];

	for (u64 i = 0; i < KEYS; i++) {
		first[i] =
			intern_find_or_add_entry(&table, &(struct intern_key){{i % 7, i / 7, ~i}});
		assert_non_null(first[i]);
		assert_int_equal(first[i]->number, 0);
		first[i]->number = i + 1;
	}
	assert_int_equal(table.count, KEYS);
	for (u64 i = 0; i < KEYS; i++) {
		assert_ptr_equal(
			intern_find_or_add_entry(&table, &(struct intern_key){{i % 7, i / 7, ~i}}),
			first[i]);
		assert_ptr_equal(table.entries[i], first[i]);
		assert_int_equal(first[i]->number, i + 1);
	}
	intern_clear(&table);
	assert_int_equal(table.count, 0);
}

TEST(forgotten_keys_lead_to_new_entries)
{
	static const struct intern_key key = {{1, 2, 3}};
	struct intern table = INTERN(struct thing);
	struct thing *old = intern_find_or_add_entry(&table, &key), *new;

	old->number = 5;
	intern_free_index(&table);
	new = intern_find_or_add_entry(&table, &key);
	assert_ptr_not_equal(new, old);
	assert_ptr_equal(intern_find_or_add_entry(&table, &key), new);
	assert_ptr_equal(table.entries[0], old);
	assert_int_equal(old->number, 5);
	intern_clear(&table);
}

TEST(texts_are_compared_whole)
{
	struct text_set set = TEXT_SET;
	char text[32];
	const char *copy;

	for (int i = 0; i < KEYS; i++) {
		snprintf(text, sizeof(text), "name_%d", i % 100);
		assert_int_equal(text_set_find(&set, text),
				 i < 100 ? HASH_INDEX_NONE : (u32)i % 100);
		copy = text_set_intern(&set, text);
		assert_string_equal(copy, text);
		assert_ptr_equal(text_set_intern(&set, text), copy);
		assert_int_equal(text_set_find_or_add_number(&set, text), i % 100);
	}
	assert_int_equal(set.count, 100);
	text_set_clear(&set);
}

/* Each text of a pool is stored once and found at its offset, also when the pool has grown since.
 */

#define TEXTS 3000

static void pool_text(u32 i, char text[64])
{
	snprintf(text, 64, "%.*s%u", (int)(i % 20), "prefix_of_some_name_", i);
}

TEST(a_text_is_put_once)
{
	static u32 offsets[TEXTS];
	struct text_pool pool;
	char text[64], *data;
	u32 offset, bytes;

	assert_int_equal(text_pool_init(&pool), 0);
	for (u32 i = 0; i < TEXTS; i++) {
		pool_text(i, text);
		assert_int_equal(text_pool_put(&pool, text, &offsets[i]), 0);
	}
	bytes = pool.bytes;
	for (u32 i = 0; i < TEXTS; i++) {
		pool_text(i, text);
		assert_int_equal(text_pool_put(&pool, text, &offset), 0);
		assert_int_equal(offset, offsets[i]);
	}
	assert_int_equal(pool.bytes, bytes);
	data = text_pool_take(&pool);
	for (u32 i = 0; i < TEXTS; i++) {
		pool_text(i, text);
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

	assert_int_equal(text_pool_init(&pool), 0);
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
	assert_int_equal(text_pool_init(&pool), 0);
	assert_int_equal(text_pool_put(&pool, text, &offset), 0);
	assert_int_equal(offset, 1);
	assert_string_equal(pool.data + offset, text);
	free(text_pool_take(&pool));
}
