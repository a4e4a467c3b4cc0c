/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An O_PATH descriptor is opened for reading by its link in /proc/self/fd, so both descriptors are
 * of the same file. */
#include "file_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "scalar.h"

static int open_path_from(int folder, const char *path, u64 resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = resolve,
	};
	int place = syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return place < 0 ? -ENOENT : place;
}

int file_place_open_in_folder(int folder, const char *path)
{
	return open_path_from(folder, path, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

int file_place_open_if_cached(const char *path)
{
	return open_path_from(AT_FDCWD, path, RESOLVE_CACHED | RESOLVE_NO_SYMLINKS);
}

static int open_path_below(const char *root, const char *path, u64 resolve)
{
	int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), place;

	if (folder < 0)
		return -ENOENT;
	place = open_path_from(folder, path, RESOLVE_IN_ROOT | resolve);
	close(folder);
	return place;
}

int file_place_open_below_root(const char *root, const char *path)
{
	return open_path_below(root, path, RESOLVE_NO_SYMLINKS);
}

int file_place_open_below_following_links(const char *root, const char *path)
{
	return open_path_below(root, path, 0);
}

int file_place_open_for_reading(int place)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -ENOENT : fd;
}

int file_place_open_regular_file(int place)
{
	struct stat status;
	int fd = -ENOENT;

	if (place < 0)
		return -ENOENT;
	if (!fstat(place, &status) && S_ISREG(status.st_mode))
		fd = file_place_open_for_reading(place);
	close(place);
	return fd;
}

u32 file_open_limit(u32 most, u32 part)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / part >= most)
		return most;
	return limit.rlim_cur / part ?: 1;
}

bool does_file_system_hide_device(int place)
{
	struct statfs fs;

	return !fstatfs(place, &fs) &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}
