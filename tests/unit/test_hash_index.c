/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries are found by their content, also when all hashes are equal. */
#include "hash_index.h"

#include <stdint.h>
#include <string.h>

#include "unit_test.h"

#define THINGS 3000

static u64 things[THINGS];

static bool is_thing(const void *all, u32 index, const void *key)
{
	return ((const u64 *)all)[index] == *(const u64 *)key;
}

static void check(u32 (*hash)(u64 thing))
{
	struct hash_index table = {};
	u64 missing = THINGS * 7 + 1;

	assert_int_equal(hash_index_find(&table, hash(0), is_thing, things, &things[0]),
			 HASH_INDEX_NONE);
	for (u32 i = 0; i < THINGS; i++) {
		things[i] = i * 7;
		assert_int_equal(hash_index_add(&table, hash(things[i]), i), 0);
	}
	assert_int_equal(table.count, THINGS);
	for (u32 i = 0; i < THINGS; i++)
		assert_int_equal(
			hash_index_find(&table, hash(things[i]), is_thing, things, &things[i]), i);
	assert_int_equal(hash_index_find(&table, hash(missing), is_thing, things, &missing),
			 HASH_INDEX_NONE);
	hash_index_free(&table);
	assert_null(table.slots);
}

static u32 hash_thing_well(u64 thing)
{
	return hash_end(hash_word(0, thing));
}

static u32 hash_all_things_equally(u64 thing)
{
	(void)thing;
	return 42;
}

TEST(finds_all)
{
	check(hash_thing_well);
}

TEST(equal_hashes)
{
	check(hash_all_things_equally);
}

TEST(cleared)
{
	struct hash_index table = {};
	u64 thing = 3;

	hash_index_clear(&table);
	assert_null(table.slots);
	for (u32 i = 0; i < THINGS; i++) {
		things[i] = i;
		assert_int_equal(hash_index_add(&table, hash_thing_well(i), i), 0);
	}
	hash_index_clear(&table);
	assert_int_equal(table.count, 0);
	for (u64 i = 0; i < THINGS; i++)
		assert_int_equal(hash_index_find(&table, hash_thing_well(i), is_thing, things, &i),
				 HASH_INDEX_NONE);
	assert_int_equal(hash_index_add(&table, hash_thing_well(thing), 3), 0);
	assert_int_equal(hash_index_find(&table, hash_thing_well(thing), is_thing, things, &thing),
			 3);
	hash_index_free(&table);
}

/* The text may lie anywhere, and all bytes up to the last one count. */
TEST(texts)
{
	char text[] = "0123456789abcdefghij", other[sizeof(text) + 1];

	memcpy(other + 1, text, sizeof(text));
	for (u32 i = sizeof(text) - 1; i > 0; i--) {
		text[i] = other[i + 1] = 0;
		assert_int_equal(hash_text(text), hash_text(other + 1));
		other[i] ^= 1;
		assert_int_not_equal(hash_text(text), hash_text(other + 1));
	}
}
