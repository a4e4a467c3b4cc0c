/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a living process are searched for again each time, as a runtime may start a file at
 * any time. For a process that has ended the kept files are used: the map that existed, or the
 * folder in which the map may have appeared later. A process that was never seen alive is taken to
 * have had our /tmp, our pid namespace, and our user or root.
 */
#include "runtime_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "scalar.h"
#include "symbol/file/file_place.h"

/* --- Processes. The kernel gives the start of a living process in ticks of CLOCK_BOOTTIME, so
 * times are compared to a tick. --- */

#define SECOND 1000000000ULL
/* A file may seem older than its process by so much, as file systems round times. */
#define SLACK (2 * SECOND)

FILE *runtime_process_open(u32 tgid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, name);
	return fopen(path, "re");
}

/* Reads field 22 of /proc/PID/stat; the name in field 2 may hold any characters. */
static bool read_process_start(u32 tgid, u64 *ticks)
{
	FILE *file = runtime_process_open(tgid, "stat");
	unsigned long long start;
	char text[1024];
	const char *name_end;
	size_t bytes;

	if (!file)
		return false;
	bytes = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[bytes] = 0;
	name_end = strrchr(text, ')');
	if (!name_end || sscanf(name_end,
				") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
				"%*d %*d %*d %llu",
				&start) != 1)
		return false;
	*ticks = start;
	return true;
}

/* True if the process that has the id process->tgid now is the one that started at process->since.
 * Sets process->began. */
static bool is_same_process(struct runtime_process *process)
{
	u64 suspended = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	u64 tick = SECOND / sysconf(_SC_CLK_TCK), ticks;

	if (!read_process_start(process->tgid, &ticks) || (ticks + 1) * tick < process->since ||
	    ticks * tick > process->since + suspended)
		return false;
	process->began = ticks * tick;
	return true;
}

bool runtime_process_read(struct runtime_process *process)
{
	FILE *file =
		is_same_process(process) ? runtime_process_open(process->tgid, "status") : NULL;
	bool has_user = false;
	char line[512];

	if (!file)
		return false;
	process->inner_id = 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "NSpid:", 6))
			sscanf(strrchr(line, '\t') ?: "", "%u", &process->inner_id);
		else if (sscanf(line, "Uid: %*u %u", &process->user) == 1)
			has_user = true;
	}
	fclose(file);
	return has_user && process->inner_id;
}

bool can_process_have_written_file(const struct runtime_process *process, const struct stat *status)
{
	u64 age = process->began ? clock_ns(CLOCK_BOOTTIME) - process->began
				 : clock_ns(CLOCK_MONOTONIC) - process->since;
	u64 began = clock_ns(CLOCK_REALTIME) - age;
	u64 written = status->st_mtim.tv_sec * SECOND + status->st_mtim.tv_nsec;

	return S_ISREG(status->st_mode) && (status->st_uid == process->user || !status->st_uid) &&
	       written + SLACK >= began;
}

/* --- Perf maps. Symbolic links are not followed: a link would make the recorder read, and show as
 * names, a file that the maker of the link may not read. A file with a second name does not count
 * for the same reason. --- */

int perf_map_open_folder(u32 tgid)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%u/root", tgid);
	return file_place_open_below_root(root, "tmp");
}

int perf_map_open(int folder, const struct runtime_process *process)
{
	struct stat status;
	char name[32];
	int place, fd = -ENOENT;

	snprintf(name, sizeof(name), "perf-%u.map", process->inner_id);
	place = file_place_open_in_folder(folder, name);
	if (place < 0)
		return -ENOENT;
	if (!fstat(place, &status) && status.st_nlink == 1 &&
	    can_process_have_written_file(process, &status))
		fd = file_place_open_for_reading(place);
	close(place);
	return fd;
}

/* --- Jitdumps. /proc/PID/map_files leads to the mapped file in any mount namespace, even if the
 * file is deleted. Without CAP_CHECKPOINT_RESTORE the path below the root of the process is used.
 * While a file is mapped, no other file has its inode number. --- */

#define DELETED_MARK " (deleted)" /* the kernel appends it to the path of a deleted file */

struct mapped_line {
	unsigned long long start;
	unsigned long long end;
	unsigned int major;
	unsigned int minor;
	unsigned long long inode;
	const char *path;
};

/* Parses a line of /proc/PID/maps and cuts off its newline; false: not an executable mapping of a
 * file. */
static bool parse_maps_line(char *line, struct mapped_line *mapped)
{
	char executable;
	int path = 0;

	if (sscanf(line, "%llx-%llx %*2c%c%*c %*x %x:%x %llu %n", &mapped->start, &mapped->end,
		   &executable, &mapped->major, &mapped->minor, &mapped->inode, &path) != 6)
		return false;
	line[strcspn(line, "\n")] = 0;
	mapped->path = line + path;
	return executable == 'x' && line[path] == '/';
}

/* The mapped file as an O_PATH descriptor, or -ENOENT. */
static int open_mapped_path(u32 tgid, const struct mapped_line *mapped)
{
	char path[96];
	int place;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", tgid, mapped->start,
		 mapped->end);
	place = open(path, O_PATH | O_CLOEXEC);
	if (place >= 0)
		return place;
	snprintf(path, sizeof(path), "/proc/%u/root", tgid);
	return file_place_open_below_root(path, mapped->path);
}

static int open_mapped_file(const struct runtime_process *process, const struct mapped_line *mapped)
{
	int place = open_mapped_path(process->tgid, mapped), fd = -ENOENT;
	struct stat status;

	if (place < 0)
		return -ENOENT;
	if (!fstat(place, &status) && status.st_ino == mapped->inode &&
	    (status.st_dev == makedev(mapped->major, mapped->minor) ||
	     does_file_system_hide_device(place)) &&
	    can_process_have_written_file(process, &status))
		fd = file_place_open_for_reading(place);
	close(place);
	return fd;
}

int jitdump_open(const struct runtime_process *process)
{
	FILE *maps = runtime_process_open(process->tgid, "maps");
	char *line = NULL, wanted[32];
	size_t room = 0,
	       length = snprintf(wanted, sizeof(wanted), "jit-%u.dump", process->inner_id);
	bool is_found = false;
	int fd = -ENOENT;

	while (maps && !is_found && getline(&line, &room, maps) > 0) {
		struct mapped_line mapped;
		const char *name;

		if (!parse_maps_line(line, &mapped))
			continue;
		name = strrchr(mapped.path, '/') + 1;
		is_found = !strncmp(name, wanted, length) &&
			   (!name[length] || !strcmp(name + length, DELETED_MARK));
		if (is_found)
			fd = open_mapped_file(process, &mapped);
	}
	free(line);
	if (!maps)
		return -ENOENT;
	fclose(maps);
	return fd;
}

struct kept {
	struct runtime_process process;
	int perf_map;
	int folder; /* descriptor of the process's /tmp, if the process had no perf map yet */
	int jitdump;
};

struct runtime_files {
	struct kept kept[RUNTIME_FILES_KEPT];
	u32 room;
	u32 count; /* processes kept so far; slots are used in turn */
};

int runtime_files_create(struct runtime_files **out)
{
	struct runtime_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->room = file_open_limit(RUNTIME_FILES_KEPT, 8);
	*out = files;
	return 0;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void close_kept_files(struct kept *kept)
{
	close_if_open(kept->perf_map);
	close_if_open(kept->folder);
	close_if_open(kept->jitdump);
}

static u32 kept_process_count(const struct runtime_files *files)
{
	return files->count < files->room ? files->count : files->room;
}

void runtime_files_free(struct runtime_files **files)
{
	if (!*files)
		return;
	for (u32 i = 0; i < kept_process_count(*files); i++)
		close_kept_files(&(*files)->kept[i]);
	free(*files);
	*files = NULL;
}

static const struct kept *find_kept_process(const struct runtime_files *files, u32 tgid, u64 since)
{
	for (u32 i = 0; i < kept_process_count(files); i++)
		if (files->kept[i].process.tgid == tgid && files->kept[i].process.since == since)
			return &files->kept[i];
	return NULL;
}

static void open_runtime_files(struct kept *kept)
{
	kept->folder = perf_map_open_folder(kept->process.tgid);
	kept->perf_map = kept->folder < 0 ? -1 : perf_map_open(kept->folder, &kept->process);
	if (kept->perf_map >= 0) {
		close(kept->folder);
		kept->folder = -1;
	}
	kept->jitdump = jitdump_open(&kept->process);
}

void runtime_files_keep(struct runtime_files *files, u32 tgid, u64 since)
{
	struct kept kept = {.process = {.tgid = tgid, .since = since}};
	struct kept *slot = &files->kept[files->count % files->room];

	if (find_kept_process(files, tgid, since) || !runtime_process_read(&kept.process))
		return;
	open_runtime_files(&kept);
	if (files->count >= files->room)
		close_kept_files(slot);
	*slot = kept;
	files->count++;
}

static int duplicate_descriptor(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

struct runtime_names runtime_files_open(const struct runtime_files *files, u32 tgid, u64 since)
{
	const struct kept *kept = find_kept_process(files, tgid, since);
	struct kept live = {{.tgid = tgid, .since = since}, -1, -1, -1};
	struct runtime_names names;

	if (runtime_process_read(&live.process))
		open_runtime_files(&live);
	names = (struct runtime_names){live.perf_map, live.jitdump};
	if (kept) {
		if (names.perf_map < 0)
			names.perf_map = duplicate_descriptor(kept->perf_map);
		if (names.perf_map < 0 && kept->folder >= 0)
			names.perf_map = perf_map_open(kept->folder, &kept->process);
		if (names.jitdump < 0)
			names.jitdump = duplicate_descriptor(kept->jitdump);
	}
	if (names.perf_map < 0 && live.folder < 0 && (!kept || kept->folder < 0)) {
		const struct runtime_process ours = {
			.since = since, .user = getuid(), .inner_id = tgid};

		live.folder = file_place_open_below_root("/", "tmp");
		if (live.folder >= 0)
			names.perf_map = perf_map_open(live.folder, &ours);
	}
	close_if_open(live.folder);
	return names;
}
