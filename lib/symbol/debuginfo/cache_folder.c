/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The XDG base directory specification says where. The folders around ours must be the caller's,
 * too: with root's rights and another user's HOME (sudo) it would be made where its owner cannot
 * write any more.
 *
 * A file's time of writing is that of its last use: access times are often not kept.
 */
#include "cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 256

static bool is_own(int file, mode_t type, struct stat *status)
{
	return !fstat(file, status) && (status->st_mode & S_IFMT) == type &&
	       status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

static int open_own(int folder, const char *name, mode_t type, struct stat *status)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int file = openat(folder, name, flags);

	if (file < 0)
		return -errno;
	if (is_own(file, type, status))
		return file;
	close(file);
	return -EPERM;
}

/* A folder of the caller, made in one of the caller. The way to that may be through links. */
static int make_folder(const char *path, const char *name)
{
	int parent = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), result = 0;
	struct stat status;

	if (parent < 0)
		return -errno;
	if (fstat(parent, &status) || status.st_uid != geteuid())
		result = -EPERM;
	else if (mkdirat(parent, name, 0700) && errno != EEXIST)
		result = -errno;
	close(parent);
	return result;
}

static int open_below(const char *path)
{
	char outer[PATH_MAX], inner[PATH_MAX];
	struct stat status;
	int result;

	if (snprintf(outer, sizeof(outer), "%s/stackmap", path) >= (int)sizeof(outer) ||
	    snprintf(inner, sizeof(inner), "%s/stackmap/debug", path) >= (int)sizeof(inner))
		return -ENAMETOOLONG;
	result = make_folder(path, "stackmap");
	result = result ?: make_folder(outer, "debug");
	return result ?: open_own(AT_FDCWD, inner, S_IFDIR, &status);
}

/* Relative paths are to be ignored. */
static const char *folder_of(const char *variable)
{
	const char *path = getenv(variable);

	return path && path[0] == '/' ? path : NULL;
}

static int open_below_home(const char *home)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/.cache", home) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	make_folder(home, ".cache");
	return open_below(path);
}

/* If it is not there, and its folder is ours. */
static void make_cache(const char *path)
{
	char outer[PATH_MAX], *slash;

	if (snprintf(outer, sizeof(outer), "%s", path) >= (int)sizeof(outer))
		return;
	slash = strrchr(outer, '/');
	*slash = '\0';
	make_folder(outer, slash + 1);
}

int cache_folder_open(void)
{
	const char *cache = folder_of("XDG_CACHE_HOME"), *home = folder_of("HOME");

	if (!cache)
		return home ? open_below_home(home) : -ENOENT;
	make_cache(cache);
	return open_below(cache);
}

static int read_whole(int file, size_t size, char **data)
{
	char *buffer = malloc(size + 1);
	ssize_t got = buffer ? pread(file, buffer, size, 0) : 0;

	if (buffer && got == (ssize_t)size) {
		*data = buffer;
		return 0;
	}
	free(buffer);
	return buffer ? -EIO : -ENOMEM;
}

int cache_folder_read(int folder, const char *name, size_t bytes_max, char **data, size_t *bytes)
{
	struct stat status;
	int file = open_own(folder, name, S_IFREG, &status), result;

	if (file < 0)
		return file;
	result = (u64)status.st_size > bytes_max ? -EFBIG : read_whole(file, status.st_size, data);
	if (!result) {
		*bytes = status.st_size;
		futimens(file, NULL);
	}
	close(file);
	return result;
}

/* Where files are limited, a longer one is answered with a signal. */
static bool may_write(size_t bytes)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && bytes <= limit.rlim_cur;
}

static int write_all(int file, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(file, data, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		data += written;
		bytes -= written;
	}
	return 0;
}

static int write_new(int folder, const char *name, const void *data, size_t bytes)
{
	int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result;

	if (file < 0)
		return -errno;
	result = write_all(file, data, bytes);
	if (close(file) && !result)
		result = -errno;
	return result;
}

int cache_folder_replace(int folder, const char *name, const void *data, size_t bytes)
{
	char new[NAME_BYTES];
	u64 number;
	int result;

	if (!may_write(bytes))
		return -EFBIG;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return -EAGAIN;
	snprintf(new, sizeof(new), "new.%016llx", (unsigned long long)number);
	result = write_new(folder, new, data, bytes);
	if (!result && renameat(folder, new, folder, name))
		result = -errno;
	if (result)
		unlinkat(folder, new, 0);
	return result;
}

struct used_file {
	char name[NAME_BYTES];
	struct timespec used;
	u64 bytes;
};

struct used_files {
	struct used_file *file;
	size_t count;
	u64 bytes;
};

static bool add_file(struct used_files *files, int folder, const char *name)
{
	struct used_file *grown;
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return true;
	grown = reallocarray(files->file, files->count + 1, sizeof(*grown));
	if (!grown)
		return false;
	files->file = grown;
	grown += files->count++;
	*grown = (struct used_file){.used = status.st_mtim, .bytes = status.st_size};
	snprintf(grown->name, sizeof(grown->name), "%s", name);
	files->bytes += status.st_size;
	return true;
}

static void list_files(int folder, struct used_files *files)
{
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	if (!entries) {
		if (again >= 0)
			close(again);
		return;
	}
	while ((entry = readdir(entries)))
		if (!add_file(files, folder, entry->d_name))
			break;
	closedir(entries);
}

static int by_use(const void *left, const void *right)
{
	const struct timespec *a = &((const struct used_file *)left)->used;
	const struct timespec *b = &((const struct used_file *)right)->used;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

void cache_folder_trim(int folder, u64 bytes_max)
{
	struct used_files files = {};

	list_files(folder, &files);
	if (files.bytes > bytes_max)
		qsort(files.file, files.count, sizeof(*files.file), by_use);
	for (size_t i = 0; i < files.count && files.bytes > bytes_max; i++)
		if (!unlinkat(folder, files.file[i].name, 0))
			files.bytes -= files.file[i].bytes;
	free(files.file);
}
