/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A list of few files, in the order of their last use. */
#include "file_cache.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct cache_file {
	struct file_key key;
	struct file_tables tables;
	size_t bytes;
};

static struct {
	struct cache_file files[FILE_CACHE_FILES];
	u32 count;
	size_t bytes;
} cache;

int file_key_make(int file, const u8 *build_id, u32 build_id_bytes, struct file_key *key)
{
	struct stat status;

	if (fstat(file, &status))
		return -errno;
	if (build_id_bytes > sizeof(key->build_id))
		return -EINVAL;
	memset(key, 0, sizeof(*key));
	key->device = status.st_dev;
	key->inode = status.st_ino;
	key->bytes = status.st_size;
	key->written = status.st_mtim;
	key->changed = status.st_ctim;
	key->build_id_bytes = build_id_bytes;
	memcpy(key->build_id, build_id, build_id_bytes);
	return 0;
}

void file_tables_clear(struct file_tables *tables)
{
	symbol_table_free(&tables->symbols);
	symbol_table_free(&tables->functions);
}

static void remove_cached_file(u32 index)
{
	cache.bytes -= cache.files[index].bytes;
	cache.count--;
	memmove(&cache.files[index], &cache.files[index + 1],
		(cache.count - index) * sizeof(*cache.files));
}

static void remove_least_recent_file(void)
{
	file_tables_clear(&cache.files[0].tables);
	remove_cached_file(0);
}

void file_cache_forget(void)
{
	while (cache.count)
		remove_least_recent_file();
}

bool file_cache_take(const struct file_key *key, struct file_tables *tables)
{
	u32 i = 0;

	while (i < cache.count && memcmp(&cache.files[i].key, key, sizeof(*key)))
		i++;
	if (i == cache.count)
		return false;
	*tables = cache.files[i].tables;
	remove_cached_file(i);
	return true;
}

void file_cache_make_room(size_t bytes)
{
	while (cache.count && cache.bytes + bytes > FILE_CACHE_BYTES)
		remove_least_recent_file();
}

void file_cache_put(const struct file_key *key, const struct file_tables *tables)
{
	struct cache_file file = {.tables = *tables};

	memcpy(&file.key, key, sizeof(*key));
	file.bytes = sizeof(file) + symbol_table_bytes(tables->symbols) +
		     symbol_table_bytes(tables->functions);
	if (file.bytes > FILE_CACHE_BYTES) {
		file_tables_clear(&file.tables);
		return;
	}
	file_cache_make_room(file.bytes);
	if (cache.count == FILE_CACHE_FILES)
		remove_least_recent_file();
	memcpy(&cache.files[cache.count++], &file, sizeof(file));
	cache.bytes += file.bytes;
}
