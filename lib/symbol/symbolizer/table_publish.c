/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The root goes last: programs that find it find all. A chunk is never written again, since the
 * kernel would give its memory to another one while somebody may be reading it.
 *
 * The kernel takes memory for elements from a small store, which it fills in an interrupt; an empty
 * one is no reason to give up.
 */
#include "table_publish.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 1000

static int map_call(int command, int map, u64 key, const void *value, u64 flags)
{
	union bpf_attr attr = {
		.map_fd = map, .key = (u64)&key, .value = (u64)value, .flags = flags};

	return syscall(SYS_bpf, command, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

bool table_is_published(int map, u32 number)
{
	struct file_table_chunk root = {};

	return !map_call(BPF_MAP_LOOKUP_ELEM, map, FILE_TABLE_KEY(number, FILE_TABLE_ROOT), &root,
			 0);
}

static int put(int map, u64 key, const struct file_table_chunk *chunk)
{
	int result = -ENOMEM;

	for (u32 i = 0; i < TRIES && result == -ENOMEM; i++)
		result = map_call(BPF_MAP_UPDATE_ELEM, map, key, chunk, BPF_NOEXIST);
	return result == -EEXIST ? 0 : result;
}

int table_publish(int map, u32 number, const struct file_table *table)
{
	u32 left = table->count;
	int result = 0;

	while (left && !result) {
		left--;
		result = put(map, FILE_TABLE_KEY(number, left), &table->chunks[left]);
	}
	while (result && ++left < table->count)
		map_call(BPF_MAP_DELETE_ELEM, map, FILE_TABLE_KEY(number, left), NULL, 0);
	return result;
}
