/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel takes memory for elements from a small store, which an interrupt refills. So an insert
 * that fails without memory is tried again. */
#include "table_map.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 1000

/* `value` is the next key for BPF_MAP_GET_NEXT_KEY. */
static int map_call(int command, int map, const u64 *key, const void *value, u64 flags)
{
	union bpf_attr attr = {.map_fd = map, .key = (u64)key, .value = (u64)value, .flags = flags};

	return syscall(SYS_bpf, command, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int table_map_get(int map, u64 key, struct file_table_chunk *chunk)
{
	return map_call(BPF_MAP_LOOKUP_ELEM, map, &key, chunk, 0);
}

int table_map_delete(int map, u64 key)
{
	return map_call(BPF_MAP_DELETE_ELEM, map, &key, NULL, 0);
}

int table_map_take(int map, u64 key, struct file_table_chunk *chunk)
{
	return map_call(BPF_MAP_LOOKUP_AND_DELETE_ELEM, map, &key, chunk, 0);
}

int table_map_add(int map, u64 key, const struct file_table_chunk *chunk)
{
	int result = -ENOMEM;

	for (u32 i = 0; i < TRIES && result == -ENOMEM; i++)
		result = map_call(BPF_MAP_UPDATE_ELEM, map, &key, chunk, BPF_NOEXIST);
	return result;
}

int table_map_next(int map, const u64 *key, u64 *next)
{
	return map_call(BPF_MAP_GET_NEXT_KEY, map, key, next, 0);
}
