/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills the engine's map of tables up to the last chunk with tables of files that do not exist:
 * fill_tables MAP AGE. AGE: time since the tables were last used, in ticks of FILE_TABLE_TIME(). */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "mapping.h"
#include "symbol/symbolizer/table_publish.h"

#define CHUNKS 64

static struct file_table_chunk chunks[CHUNKS];

static int age(int map, u32 number, u32 ticks)
{
	u64 key = FILE_TABLE_KEY(number, FILE_TABLE_ROOT);
	struct file_table_chunk root;
	int result = table_map_get(map, key, &root);

	root.used = current_file_table_time() - ticks;
	return result ?: bpf_map_update_elem(map, &key, &root, BPF_EXIST);
}

/* Adds smaller tables where a large one has no room, with the last numbers. */
static int fill(int map, u32 ticks)
{
	struct file_table table = {.chunks = chunks, .count = CHUNKS};
	u32 number = MAPPINGS_MAX - 1;
	int result = 0;

	while (!result && table.count) {
		result = table_publish(map, number, &table);
		if (result == -E2BIG) {
			table.count /= 2;
			result = 0;
		} else {
			number--;
		}
	}
	while (!result && ++number < MAPPINGS_MAX)
		result = age(map, number, ticks);
	return result;
}

int main(int count, char **arguments)
{
	int map = count == 3 ? bpf_obj_get(arguments[1]) : -1;

	return map < 0 ? 2 : fill(map, atoi(arguments[2])) != 0;
}
