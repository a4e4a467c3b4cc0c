/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file is written under a temporary name, brought to the disk, and renamed; then the folder is
 * brought to the disk. A machine that stops in between has the old state or the new one.
 */
#include "store/write/spool_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "error.h"
#include "order.h"

#define DIGITS 16
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int make_above(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int err;

		*slash = 0;
		err = mkdir(path, 0755) && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (err)
			return err;
	}
	return 0;
}

static int make_folder(const char *path)
{
	char *copy = strdup(path);
	int err = copy ? make_above(copy) : -ENOMEM;

	free(copy);
	if (!err && mkdir(path, 0700) && errno != EEXIST)
		err = -errno;
	return err;
}

static int check_folder(int folder)
{
	struct stat status;

	if (fstat(folder, &status))
		return -errno;
	return status.st_uid == geteuid() && !(status.st_mode & 022) ? 0 : -EPERM;
}

int spool_folder_open(const char *path, int *out, struct stackmap_error *error)
{
	int err = make_folder(path);
	int folder = err ? -1 : open(path, FOLDER_FLAGS);

	if (!err && folder < 0)
		err = -errno;
	if (!err)
		err = check_folder(folder);
	if (!err) {
		*out = folder;
		return 0;
	}
	if (folder >= 0)
		close(folder);
	return error_set(error, -err, "%s: %s", path,
			 err == -EPERM ? "it must belong to who runs this, and to nobody else"
				       : strerror(-err));
}

int spool_folder_lock(int folder, const char *name, int *out)
{
	int lock =
		openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int err;

	if (lock < 0)
		return -errno;
	if (!flock(lock, LOCK_EX | LOCK_NB)) {
		*out = lock;
		return 0;
	}
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(lock);
	return err;
}

static int write_all(int file, const u8 *data, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(file, data, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		bytes -= (size_t)done;
	}
	return fsync(file) ? -errno : 0;
}

static int write_temporary(int folder, const char *name, const void *data, size_t bytes)
{
	int file, err;

	unlinkat(folder, name, 0);
	file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	err = write_all(file, data, bytes);
	return close(file) && !err ? -errno : err;
}

int spool_folder_write(int folder, const char *temporary, const char *name, const void *data,
		       size_t bytes)
{
	int err = write_temporary(folder, temporary, data, bytes);

	if (!err && renameat(folder, temporary, folder, name))
		err = -errno;
	if (!err && fsync(folder))
		err = -errno;
	if (err)
		unlinkat(folder, temporary, 0);
	return err;
}

static bool is_ours(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1;
}

static int read_file(int file, u8 **data, size_t *bytes)
{
	struct stat status;
	ssize_t got;
	u8 *read_to;

	if (fstat(file, &status))
		return -errno;
	if (!is_ours(&status))
		return -EPERM;
	if ((u64)status.st_size > SPOOL_FILE_BYTES_MAX)
		return -EFBIG;
	read_to = malloc((size_t)status.st_size + 1);
	if (!read_to)
		return -ENOMEM;
	got = pread(file, read_to, (size_t)status.st_size, 0);
	if (got < 0) {
		free(read_to);
		return -errno;
	}
	*data = read_to;
	*bytes = (size_t)got;
	return 0;
}

int spool_folder_read(int folder, const char *name, u8 **data, size_t *bytes)
{
	int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (file < 0)
		return errno == ELOOP ? -EPERM : -errno;
	err = read_file(file, data, bytes);
	close(file);
	return err;
}

int spool_folder_rename(int folder, const char *from, const char *to)
{
	if (renameat(folder, from, folder, to) && errno != ENOENT)
		return -errno;
	return fsync(folder) ? -errno : 0;
}

int spool_folder_remove(int folder, const char *name)
{
	return unlinkat(folder, name, 0) && errno != ENOENT ? -errno : 0;
}

static const char *const endings[] = {
	[SPOOL_BATCH] = ".batch", [SPOOL_LOST] = ".lost", [SPOOL_REFUSED] = ".refused"};

void spool_item_name(u64 number, enum spool_kind kind, char name[SPOOL_NAME_BYTES])
{
	snprintf(name, SPOOL_NAME_BYTES, "%016llx%s", (unsigned long long)number, endings[kind]);
}

static bool read_name(const char *name, struct spool_item *item)
{
	char *end;

	if (strspn(name, "0123456789abcdef") != DIGITS)
		return false;
	item->number = strtoull(name, &end, 16);
	for (u32 kind = 0; kind < sizeof(endings) / sizeof(endings[0]); kind++)
		if (!strcmp(end, endings[kind])) {
			item->kind = kind;
			return true;
		}
	return false;
}

static int add_item(int folder, const char *name, struct spool_list *list)
{
	struct spool_item item;
	struct stat status;

	if (!read_name(name, &item))
		return 0;
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (!is_ours(&status)) {
		list->strangers++;
		return 0;
	}
	if (array_make_room(list->items, list->count, list->room))
		return -ENOMEM;
	item.bytes = (u64)status.st_size;
	list->items[list->count++] = item;
	return 0;
}

static int by_number(const void *left, const void *right)
{
	const struct spool_item *a = left, *b = right;

	return order(a->number, b->number) ?: order(a->kind, b->kind);
}

static DIR *open_reading(int folder)
{
	int again = openat(folder, ".", FOLDER_FLAGS);
	DIR *reading = again < 0 ? NULL : fdopendir(again);

	if (!reading && again >= 0)
		close(again);
	return reading;
}

int spool_folder_list(int folder, struct spool_list *out)
{
	struct spool_list list = {0};
	DIR *reading = open_reading(folder);
	struct dirent *entry;
	int err = 0;

	if (!reading)
		return -errno;
	while (!err && (entry = readdir(reading)))
		err = add_item(folder, entry->d_name, &list);
	closedir(reading);
	if (err) {
		spool_list_clear(&list);
		return err;
	}
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), by_number);
	*out = list;
	return 0;
}

void spool_list_clear(struct spool_list *list)
{
	free(list->items);
	memset(list, 0, sizeof(*list));
}
