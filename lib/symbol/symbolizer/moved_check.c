/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file offset of a moved mapping is guessed from the file's other mappings: most linkers keep
 * one distance between offsets and addresses, or a distance that grows by a page for each segment
 * (lld). A wrong guess does no harm, as all bytes are compared.
 */
#include "moved_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "clock.h"
#include "symbol/file/mapped_file.h"

/* After this time a comparison is requested again: the recorder that requested it may be gone. */
#define ASK_AGAIN_NS (5000 * NS_PER_MS)
#define APART_NS (200 * NS_PER_MS) /* shortest time between two comparisons for one process */
#define OLD_NS (10000 * NS_PER_MS)
/* Shortest time between two comparisons of a writable mapping. */
#define AGAIN_NS_MIN (1000 * NS_PER_MS)
#define AGAIN_NS_MAX (64000 * NS_PER_MS)
#define SETTLED_MAX 16
#define NEIGHBOURS_MAX 64
#define SHIFT_MAX 4 /* the most pages by which a guessed file offset is changed */
#define PAGE 4096
#define CHUNK (256U << 10)
#define BYTES_MAX (1ULL << 30)

struct entry {
	struct moved_key key;
	struct moved_code moved;
};

/* Reads all entries of the map, for the caller to free, and their number. NULL: the map is empty,
 * or no memory. */
static struct entry *read_entries(int map, u32 *count)
{
	struct moved_key key, next;
	struct entry *entries = NULL;

	*count = 0;
	if (bpf_map_get_next_key(map, NULL, &next))
		return NULL;
	entries = malloc(MOVED_CODE_MAX * sizeof(*entries));
	while (entries && *count < MOVED_CODE_MAX) {
		entries[*count].key = key = next;
		if (!bpf_map_lookup_elem(map, &key, &entries[*count].moved))
			++*count;
		if (bpf_map_get_next_key(map, &key, &next))
			break;
	}
	return entries;
}

static void store_comparison_result_in_map(int map, struct entry *entry, u32 state)
{
	entry->moved.time = clock_ns(CLOCK_MONOTONIC);
	if (entry->moved.state != MOVED_FILE)
		entry->moved.since = entry->moved.time;
	entry->moved.state = state;
	bpf_map_update_elem(map, &entry->key, &entry->moved, BPF_EXIST);
}

/* True if no mapping of the process was compared in the last APART_NS. */
static bool was_process_not_compared_lately(const struct entry *entries, u32 count, u32 tgid,
					    u64 now)
{
	for (u32 i = 0; i < count; i++)
		if (entries[i].moved.tgid == tgid && entries[i].moved.time + APART_NS > now)
			return false;
	return true;
}

/* A writable mapping that was equal to the file is compared again. The time between comparisons is
 * the time for which the mapping has been equal, within limits. */
static bool is_comparison_due(const struct entry *entries, u32 count, u32 i, u64 now)
{
	const struct moved_code *moved = &entries[i].moved;
	u64 equal = moved->time - moved->since;

	if (moved->state == MOVED_ASKED)
		return moved->time + ASK_AGAIN_NS < now;
	if (moved->state == MOVED_WANTED)
		return was_process_not_compared_lately(entries, count, moved->tgid, now);
	if (equal < AGAIN_NS_MIN)
		equal = AGAIN_NS_MIN;
	return moved->state == MOVED_FILE && moved->is_writable &&
	       moved->time + (equal < AGAIN_NS_MAX ? equal : AGAIN_NS_MAX) < now;
}

u32 moved_code_list_due_comparisons(int map, struct moved_code *wanted, u32 *files)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);
	u32 count, taken = 0;
	struct entry *entries = read_entries(map, &count);

	*files = 0;
	for (u32 i = 0; i < count; i++) {
		struct entry *entry = &entries[i];

		*files += entry->moved.state == MOVED_FILE;
		if (taken < MOVED_CODE_ASK_MAX && is_comparison_due(entries, count, i, now)) {
			wanted[taken++] = entry->moved;
			store_comparison_result_in_map(
				map, entry,
				entry->moved.state == MOVED_FILE ? MOVED_FILE : MOVED_ASKED);
		} else if (count > MOVED_CODE_MAX / 2 && entry->moved.state >= MOVED_OTHER &&
			   entry->moved.time + OLD_NS < now) {
			bpf_map_delete_elem(map, &entry->key);
		}
	}
	free(entries);
	return taken;
}

/* All entries are read before the memory of the process: a mapping that changes meanwhile gets
 * another key. */
int moved_code_compare_and_store_results(int map, u32 number, u32 tgid, int file,
					 const struct mapping_record *record)
{
	u32 count, settled = 0;
	struct entry *entries = read_entries(map, &count);

	for (u32 i = 0; i < count && settled < SETTLED_MAX; i++) {
		struct moved_code *moved = &entries[i].moved;
		u32 state = MOVED_OTHER;

		if ((moved->state != MOVED_ASKED &&
		     !(moved->state == MOVED_FILE && moved->is_writable)) ||
		    moved->number != number || moved->tgid != tgid)
			continue;
		if (!moved_code_find_offset_in_file(moved, file, record->key.inode) &&
		    is_file_of_mapping_record(file, record))
			state = MOVED_FILE;
		store_comparison_result_in_map(map, &entries[i], state);
		settled++;
	}
	free(entries);
	return 0;
}

struct neighbour {
	u64 start, offset;
};

/* Reads which mappings of a process show this file. Returns their number. */
static u32 read_file_mappings(u32 tgid, u64 inode, struct neighbour *neighbours)
{
	char path[64], line[4400];
	u32 count = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", tgid);
	maps = fopen(path, "re");
	while (maps && count < NEIGHBOURS_MAX && fgets(line, sizeof(line), maps)) {
		struct neighbour *neighbour = &neighbours[count];
		u64 end, its_inode;

		count += sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64,
				&neighbour->start, &end, &neighbour->offset, &its_inode) == 4 &&
			 its_inode == inode;
	}
	if (maps)
		fclose(maps);
	return count;
}

/* True if [start, end) in the process is equal to the file from `offset` on, as a mapping shows the
 * file: with zeros from its end to the end of its page. `buffers` has room for two chunks. */
static bool is_mapping_equal_to_file(const struct moved_code *moved, u64 start, u64 end, u64 offset,
				     int file, u8 *buffers)
{
	while (start < end) {
		u32 bytes = end - start < CHUNK ? end - start : CHUNK;
		struct iovec local = {buffers + CHUNK, bytes}, remote = {(void *)start, bytes};
		ssize_t count = pread(file, buffers, bytes, offset);

		if (count <= 0 || bytes - count >= sysconf(_SC_PAGESIZE))
			return false;
		memset(buffers + count, 0, bytes - count);
		if (process_vm_readv(moved->tgid, &local, 1, &remote, 1, 0) != (ssize_t)bytes ||
		    memcmp(buffers, buffers + CHUNK, bytes))
			return false;
		start += bytes;
		offset += bytes;
	}
	return true;
}

/* Sets moved->offset to a guessed offset at which the file is equal to the mapping. The first page
 * is compared alone before, since most guesses are wrong. */
static bool find_equal_offset(struct moved_code *moved, const struct neighbour *neighbours,
			      u32 count, int file, u8 *buffers)
{
	/* No guess is equal to this offset, which is not a multiple of a page. */
	u64 tried = 1;

	for (s32 shift = 0; shift <= 2 * SHIFT_MAX; shift++) {
		s64 bytes = (shift & 1 ? -(shift + 1) : shift) / 2 * PAGE;

		for (u32 i = 0; i < count; i++) {
			u64 offset = moved->start - neighbours[i].start + neighbours[i].offset;

			if (offset + bytes == tried)
				continue;
			tried = offset + bytes;
			if (tried >> 63 ||
			    !is_mapping_equal_to_file(moved, moved->start, moved->start + PAGE,
						      tried, file, buffers) ||
			    !is_mapping_equal_to_file(moved, moved->start, moved->end, tried, file,
						      buffers))
				continue;
			moved->offset = tried;
			return true;
		}
	}
	return false;
}

int moved_code_find_offset_in_file(struct moved_code *moved, int file, u64 inode)
{
	struct neighbour neighbours[NEIGHBOURS_MAX];
	u32 count = read_file_mappings(moved->tgid, inode, neighbours);
	u8 *buffers = NULL;
	bool is_found;

	if (!count || moved->end <= moved->start || moved->end - moved->start > BYTES_MAX)
		return -ENOENT;
	buffers = malloc(2 * CHUNK);
	if (!buffers)
		return -ENOMEM;
	is_found = find_equal_offset(moved, neighbours, count, file, buffers);
	free(buffers);
	if (!is_found)
		return -ENOENT;
	/* The image begins at the nearest mapping of file offset 0, at or below the code. */
	moved->image = moved->offset ? 0 : moved->start;
	for (u32 i = 0; i < count; i++)
		if (!neighbours[i].offset && neighbours[i].start < moved->start &&
		    neighbours[i].start > moved->image)
			moved->image = neighbours[i].start;
	return moved->image ? 0 : -ENOENT;
}
