/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints one line of JSON with the use of a running `stackmap record` at this moment, read from its
 * maps: stacks and pool of the stack map, slots of the rings, events of the ledger.
 *
 *   live_map PID
 *
 * The maps are found by the descriptors that the process holds. No map says the size of a slot: it
 * is the size at which the newest slot has the commit word of its position.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"
#include "scratch.h"
#include "stack_table.h"

struct map {
	u8 *memory;
	u64 stride; /* distance in bytes between two values of the map */
	u32 entries;
	u32 value_size;
};

/* The id of the map behind a descriptor of the process; 0 for other descriptors. */
static u32 map_id_of(const char *pid, const char *descriptor)
{
	char path[512], line[128];
	u32 id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, descriptor);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!id && fgets(line, sizeof(line), file))
		if (sscanf(line, "map_id: %u", &id) != 1)
			id = 0;
	fclose(file);
	return id;
}

static int map_open(u32 id, const char *name, struct map *map)
{
	struct bpf_map_info info = {};
	u32 size = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);
	void *memory;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	if (strcmp(info.name, name)) {
		close(fd);
		return -ENOENT;
	}
	map->entries = info.max_entries;
	map->value_size = info.value_size;
	map->stride = (info.value_size + 7) & ~7ULL;
	memory = mmap(NULL, map->stride * map->entries, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return -errno;
	map->memory = memory;
	return 0;
}

static int map_find(const char *pid, const char *name, struct map *map)
{
	int result = -ENOENT;
	struct dirent *entry;
	char path[64];
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	directory = opendir(path);
	if (!directory)
		return -errno;
	while (result && (entry = readdir(directory))) {
		u32 id = map_id_of(pid, entry->d_name);

		if (id)
			result = map_open(id, name, map);
	}
	closedir(directory);
	return result;
}

static bool slot_size_fits(const struct map *rings, u32 slot_size)
{
	u64 slots = (rings->value_size - sizeof(struct ring_header)) / slot_size;
	u32 cpu;

	for (cpu = 0; cpu < rings->entries; cpu++) {
		const struct ring_header *ring = (void *)(rings->memory + cpu * rings->stride);
		u64 newest = ring->head - 1;
		const u32 *commit = (void *)((u8 *)(ring + 1) + newest % slots * slot_size);

		if (ring->head > slots &&
		    (*commit | COMMIT_BUSY | COMMIT_CONTINUED) ==
			    (COMMIT_OF(newest) | COMMIT_BUSY | COMMIT_CONTINUED))
			return true;
	}
	return false;
}

static u32 find_slot_size(const struct map *rings)
{
	u32 extras;

	for (extras = 0; extras <= EVENT_EXTRA_MAX; extras++)
		if (slot_size_fits(rings, EVENT_SLOT_SIZE(extras)))
			return EVENT_SLOT_SIZE(extras);
	return 0;
}

/* The number of positions that were reserved since the start, for events and for runs. */
static u64 slots_used(const struct map *rings, u32 slot_size)
{
	u64 slots = (rings->value_size - sizeof(struct ring_header)) / slot_size, used = 0;
	u32 cpu;

	for (cpu = 0; cpu < rings->entries; cpu++)
		used += ((const struct ring_header *)(rings->memory + cpu * rings->stride))->head -
			slots;
	return used;
}

static u64 events_recorded(const struct map *scratch_slots)
{
	u64 events = 0;
	u32 i, cause;

	for (i = 0; i < scratch_slots->entries * SCRATCH_SLOTS; i++) {
		const struct scratch *scratch =
			(void *)(scratch_slots->memory + i / SCRATCH_SLOTS * scratch_slots->stride +
				 i % SCRATCH_SLOTS * sizeof(*scratch));

		events += scratch->counters.produced;
		for (cause = 0; cause < LOST_COUNT; cause++)
			if (cause != LOST_OVERWRITTEN)
				events -= scratch->counters.lost[cause];
	}
	return events;
}

static int table_print(const struct map *map)
{
	const struct table_header *header = (void *)map->memory;
	struct table_geometry geometry;
	struct table_stat stat;
	int result = table_geometry_set(&geometry, header->bits, header->cpus, header->pool_words);

	if (result)
		return result;
	stack_table_stat(map->memory, &geometry, &stat);
	printf("\"stacks\": %llu, \"max_stacks\": %llu, \"pool_bytes\": %llu, \"wasted_bytes\": "
	       "%llu, \"refs\": %llu, \"lost_races\": %llu, ",
	       (unsigned long long)stat.entries, (unsigned long long)stat.max_entries,
	       8ULL * stat.pool_used, 8ULL * stat.wasted, (unsigned long long)stat.refs,
	       (unsigned long long)stat.lost_races);
	return 0;
}

int main(int argc, char **argv)
{
	struct map table, rings, scratch_slots;
	u32 slot_size;

	if (argc != 2)
		return 2;
	if (map_find(argv[1], "stack_table", &table) || map_find(argv[1], "rings", &rings) ||
	    map_find(argv[1], "scratch_slots", &scratch_slots)) {
		fprintf(stderr, "live_map: %s: no recording with its maps\n", argv[1]);
		return 1;
	}
	slot_size = find_slot_size(&rings);
	if (!slot_size) {
		fprintf(stderr, "live_map: %s: no event yet\n", argv[1]);
		return 1;
	}
	printf("{");
	if (table_print(&table))
		return 1;
	printf("\"slot_bytes\": %u, \"slots_used\": %llu, \"events\": %llu}\n", slot_size,
	       (unsigned long long)slots_used(&rings, slot_size),
	       (unsigned long long)events_recorded(&scratch_slots));
	return 0;
}
