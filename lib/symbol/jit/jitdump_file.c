/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/map_files leads to the very file that is mapped, in whatever mount namespace, and
 * deleted or not; whoever has no CAP_CHECKPOINT_RESTORE goes by its path, below the root of the
 * process. While it is mapped its inode number is no other file's.
 */
#include "jitdump_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbol/file/file_place.h"

#define DELETED " (deleted)" /* the kernel's words behind a path */

struct mapped_line {
	unsigned long long start;
	unsigned long long end;
	unsigned int major;
	unsigned int minor;
	unsigned long long inode;
	const char *path;
};

/* An executable mapping of a file, of a line of /proc/PID/maps. Cuts the line's end off. */
static bool parse_line(char *line, struct mapped_line *mapped)
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

static bool is_dump_of(const char *path, u32 id)
{
	const char *name = strrchr(path, '/') + 1;
	char wanted[32];
	size_t length = snprintf(wanted, sizeof(wanted), "jit-%u.dump", id);

	return !strncmp(name, wanted, length) && (!name[length] || !strcmp(name + length, DELETED));
}

static bool find(const struct runtime_process *process, FILE *maps, char **line, size_t *room,
		 struct mapped_line *mapped)
{
	while (getline(line, room, maps) > 0)
		if (parse_line(*line, mapped) && is_dump_of(mapped->path, process->inner_id))
			return true;
	return false;
}

static int walk_to(u32 tgid, const struct mapped_line *mapped)
{
	char path[96];
	int place;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", tgid, mapped->start,
		 mapped->end);
	place = open(path, O_PATH | O_CLOEXEC);
	if (place >= 0)
		return place;
	snprintf(path, sizeof(path), "/proc/%u/root", tgid);
	return file_place_below(path, mapped->path);
}

static bool is_mapped_one(int place, const struct stat *status, const struct mapped_line *mapped)
{
	return status->st_ino == mapped->inode &&
	       (status->st_dev == makedev(mapped->major, mapped->minor) ||
		file_place_hides_device(place));
}

static int open_mapped(const struct runtime_process *process, const struct mapped_line *mapped)
{
	int place = walk_to(process->tgid, mapped), fd = -ENOENT;
	struct stat status;

	if (place < 0)
		return -ENOENT;
	if (!fstat(place, &status) && is_mapped_one(place, &status, mapped) &&
	    runtime_process_wrote(process, &status))
		fd = file_place_read(place);
	close(place);
	return fd;
}

int jitdump_open(const struct runtime_process *process)
{
	FILE *maps = runtime_process_open(process->tgid, "maps");
	struct mapped_line mapped;
	char *line = NULL;
	size_t room = 0;
	int fd = -ENOENT;

	if (!maps)
		return -ENOENT;
	if (find(process, maps, &line, &room, &mapped))
		fd = open_mapped(process, &mapped);
	free(line);
	fclose(maps);
	return fd;
}
