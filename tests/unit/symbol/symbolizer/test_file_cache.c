// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of files that the cache has. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbolizer/file_cache.h"
#include "unit_test.h"

static const u8 build_id[4] = {1, 2, 3, 4};
static const u8 other_id[4] = {1, 2, 3, 5};

static struct file_key key_of(u64 inode)
{
	struct file_key key;
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(file_key_make(fileno(file), build_id, sizeof(build_id), &key), 0);
	fclose(file);
	key.inode = inode;
	return key;
}

/* Makes tables of about so many bytes. */
static struct file_tables tables_of(size_t bytes)
{
	struct file_tables tables = {};
	char *name = calloc(1, bytes + 1);

	assert_non_null(name);
	for (size_t i = 0; i < bytes; i++)
		name[i] = 'n';
	assert_int_equal(symbol_table_create(&tables.symbols), 0);
	assert_int_equal(symbol_table_create(&tables.functions), 0);
	assert_int_equal(symbol_table_add(tables.symbols, &(struct symbol){.start = 16,
									   .size = 16,
									   .limit = 32,
									   .name = name,
									   .name_bytes = bytes}),
			 0);
	free(name);
	return tables;
}

static void put(const struct file_key *key, size_t bytes)
{
	struct file_tables tables = tables_of(bytes);

	file_cache_put(key, &tables);
}

static bool take(const struct file_key *key)
{
	struct file_tables tables;
	bool known = file_cache_take(key, &tables);

	if (known)
		file_tables_clear(&tables);
	return known;
}

TEST(a_file_is_known_until_it_is_written)
{
	struct file_key key, again, changed, other;
	FILE *file = tmpfile();
	struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	assert_non_null(file);
	assert_int_equal(file_key_make(fileno(file), build_id, 4, &key), 0);
	assert_int_equal(file_key_make(fileno(file), build_id, 4, &again), 0);
	assert_int_equal(file_key_make(fileno(file), other_id, 4, &other), 0);
	assert_int_equal(futimens(fileno(file), past), 0);
	assert_int_equal(file_key_make(fileno(file), build_id, 4, &changed), 0);
	put(&key, 1);
	assert_false(take(&changed));
	assert_false(take(&other));
	assert_true(take(&again));
	assert_false(take(&key));
	fclose(file);
}

TEST(the_file_used_last_stays)
{
	struct file_key key = key_of(1);

	for (u64 i = 0; i <= FILE_CACHE_FILES; i++) {
		key.inode = i;
		put(&key, 1);
	}
	for (u64 i = 0; i <= FILE_CACHE_FILES; i++) {
		key.inode = i;
		assert_int_equal(take(&key), i > 0);
	}
}

TEST(bytes_are_bounded)
{
	struct file_key small = key_of(1), large = key_of(2), too_large = key_of(3);

	large.written = too_large.written = small.written;
	put(&small, FILE_CACHE_BYTES / 8);
	put(&too_large, FILE_CACHE_BYTES);
	assert_false(take(&too_large));
	assert_true(take(&small));
	put(&small, FILE_CACHE_BYTES / 8);
	put(&large, FILE_CACHE_BYTES / 2 + FILE_CACHE_BYTES / 4 + FILE_CACHE_BYTES / 8);
	assert_false(take(&small));
}

TEST(room_is_made_by_the_longest_unused)
{
	struct file_key first = key_of(1), second = key_of(2);

	second.written = first.written;
	put(&first, FILE_CACHE_BYTES / 4);
	put(&second, FILE_CACHE_BYTES / 4);
	file_cache_make_room(FILE_CACHE_BYTES / 4);
	assert_true(take(&first));
	put(&first, FILE_CACHE_BYTES / 4);
	file_cache_make_room(FILE_CACHE_BYTES / 2 + FILE_CACHE_BYTES / 8);
	assert_false(take(&second));
	assert_true(take(&first));
	put(&first, FILE_CACHE_BYTES / 4);
	file_cache_make_room(2 * FILE_CACHE_BYTES);
	assert_false(take(&first));
}

TEST(clearing_forgets_all_files)
{
	struct file_key first = key_of(1), second = key_of(2);

	put(&first, 1);
	put(&second, 1);
	file_cache_forget();
	assert_false(take(&first));
	assert_false(take(&second));
	put(&first, 1);
	assert_true(take(&first));
}

TEST(a_long_build_id_is_refused)
{
	u8 id[TRACE_BUILD_ID_MAX + 1] = {0};
	struct file_key key;

	assert_int_not_equal(file_key_make(0, id, sizeof(id), &key), 0);
	assert_int_not_equal(file_key_make(-1, id, 1, &key), 0);
}
