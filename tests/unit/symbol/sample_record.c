/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Device numbers come from stat() or from the maps file, which has the kernel's numbers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sample_record.h"
#include "unit_test.h"

void sample_record_path(struct mapping_record *record, const char *path)
{
	char *left = strdup(path), *slash;

	assert_non_null(left);
	record->path_bytes = 0;
	record->path_whole = 1;
	while ((slash = strrchr(left, '/'))) {
		size_t bytes = strlen(slash + 1) + 1;

		assert_true(record->path_bytes + bytes <= sizeof(record->path));
		memcpy(record->path + record->path_bytes, slash + 1, bytes);
		record->path_bytes += bytes;
		*slash = 0;
	}
	free(left);
}

static u64 written(const struct stat *stat)
{
	return FILE_WRITTEN(stat->st_mtim.tv_sec, stat->st_mtim.tv_nsec);
}

void sample_record_file(struct mapping_record *record, const char *path)
{
	struct statfs mounted;
	struct stat stat;

	assert_int_equal(lstat(path, &stat), 0);
	assert_int_equal(statfs(path, &mounted), 0);
	memset(record, 0, sizeof(*record));
	record->key.kind = MAPPING_FILE;
	record->key.inode = stat.st_ino;
	record->key.device = (u64)major(stat.st_dev) << 20 | minor(stat.st_dev);
	record->key.since = written(&stat);
	record->owner = stat.st_uid;
	record->file_system = mounted.f_type;
	record->tgid = getpid();
	sample_record_path(record, path);
}

/* Uses the link in /proc/self/map_files, as the file may have lost its path; the path is used if
 * the link must not be followed. */
static u64 mapped_file_written(const struct mapping_record *record, const char *path)
{
	struct stat file;
	char link[96];

	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", record->start, record->end);
	return stat(link, &file) && stat(path, &file) ? 0 : written(&file);
}

static bool parse_line(const char *line, u64 address, struct mapping_record *record)
{
	unsigned int device_major, device_minor;
	char path[4096] = "";

	if (sscanf(line, "%lx-%lx %*s %lx %x:%x %lu %4095s", &record->start, &record->end,
		   &record->offset, &device_major, &device_minor, &record->key.inode, path) < 6)
		return false;
	record->key.device = (u64)device_major << 20 | device_minor;
	record->key.kind = path[0] == '/' ? MAPPING_FILE : MAPPING_VDSO;
	record->key.since = mapped_file_written(record, path);
	sample_record_path(record, path);
	return address >= record->start && address < record->end;
}

bool sample_record_mapped(struct mapping_record *record, const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192];
	bool found = false;

	assert_non_null(maps);
	memset(record, 0, sizeof(*record));
	record->tgid = getpid();
	while (!found && fgets(line, sizeof(line), maps))
		found = parse_line(line, (uintptr_t)address, record);
	fclose(maps);
	return found;
}
