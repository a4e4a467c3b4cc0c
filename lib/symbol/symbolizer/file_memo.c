/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A list of few files, the one that was used last at its end. */
#include "file_memo.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct memo_file {
	struct file_key key;
	struct file_tables tables;
	size_t bytes;
};

static struct {
	struct memo_file files[FILE_MEMO_FILES];
	u32 count;
	size_t bytes;
} memo;

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

static void remove_at(u32 index)
{
	memo.bytes -= memo.files[index].bytes;
	memo.count--;
	memmove(&memo.files[index], &memo.files[index + 1],
		(memo.count - index) * sizeof(*memo.files));
}

static void drop_oldest(void)
{
	file_tables_clear(&memo.files[0].tables);
	remove_at(0);
}

void file_memo_forget(void)
{
	while (memo.count)
		drop_oldest();
}

bool file_memo_take(const struct file_key *key, struct file_tables *tables)
{
	u32 i = 0;

	while (i < memo.count && memcmp(&memo.files[i].key, key, sizeof(*key)))
		i++;
	if (i == memo.count)
		return false;
	*tables = memo.files[i].tables;
	remove_at(i);
	return true;
}

void file_memo_put(const struct file_key *key, const struct file_tables *tables)
{
	struct memo_file file = {.tables = *tables};

	memcpy(&file.key, key, sizeof(*key));
	file.bytes = sizeof(file) + symbol_table_bytes(tables->symbols) +
		     symbol_table_bytes(tables->functions);
	if (file.bytes > FILE_MEMO_BYTES) {
		file_tables_clear(&file.tables);
		return;
	}
	while (memo.count == FILE_MEMO_FILES || memo.bytes + file.bytes > FILE_MEMO_BYTES)
		drop_oldest();
	memcpy(&memo.files[memo.count++], &file, sizeof(file));
	memo.bytes += file.bytes;
}
