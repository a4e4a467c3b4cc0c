/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A descriptor of a place is opened by its link in /proc/self/fd: it is the same file for sure. */
#include "file_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "scalar.h"

static int walk(int folder, const char *path, u64 resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | resolve,
	};
	int place = syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return place < 0 ? -ENOENT : place;
}

int file_place_in(int folder, const char *path)
{
	return walk(folder, path, RESOLVE_IN_ROOT);
}

int file_place_cached(const char *path)
{
	return walk(AT_FDCWD, path, RESOLVE_CACHED);
}

int file_place_below(const char *root, const char *path)
{
	int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), place;

	if (folder < 0)
		return -ENOENT;
	place = file_place_in(folder, path);
	close(folder);
	return place;
}

int file_place_read(int place)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -ENOENT : fd;
}

bool file_place_hides_device(int place)
{
	struct statfs fs;

	return !fstatfs(place, &fs) &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}
