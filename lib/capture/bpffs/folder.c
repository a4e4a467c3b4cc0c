/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

#include "capture/bpffs/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/bpffs/root.h"
#include "error.h"
#include "interrupt.h"

#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define NEW_PREFIX "_new-"
#define GONE_PREFIX "_gone-"
#define PINS "pins"
#define PATH_BYTES 256
#define LOCK_TRY_MS 10
#define MODE_OWNER 0700
#define MODE_GROUP 0750
#define MODE_ENTER 0111

struct folder {
	char name[FOLDER_NAME_MAX + 1];
	char path[PATH_BYTES];
	char pin_path[PATH_BYTES + NAME_MAX];
	int fd;
	int pins;
	bool claimed; /* true: this process has made the folder and not published it yet */
};

static int check_instance_name(const char *name, struct stackmap_error *error)
{
	size_t length = strspn(name, NAME_LETTERS);

	if (length && length <= FOLDER_NAME_MAX && !name[length] && name[0] != '_')
		return 0;
	return error_set(error, EINVAL,
			 "'%s' is no name for an instance: 1 to %d of A-Z a-z 0-9 _ -, the first "
			 "not _",
			 name, FOLDER_NAME_MAX);
}

const char *folder_name(const struct folder *folder)
{
	return folder->name;
}

const char *folder_path(const struct folder *folder)
{
	return folder->path;
}

const char *folder_pin_path(struct folder *folder, const char *pin)
{
	snprintf(folder->pin_path, sizeof(folder->pin_path), "%s/" PINS "/%s", folder->path, pin);
	return folder->pin_path;
}

static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* Calls each() for each entry of a directory whose name has the prefix, and closes the directory's
 * descriptor `fd`. */
static int for_each_entry_with_prefix(int fd, const char *prefix,
				      int (*each)(void *arg, const char *name), void *arg)
{
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int result = 0;

	if (!directory)
		return fd < 0 ? fd : -ENOMEM;
	while (!result && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && !strncmp(entry->d_name, prefix, strlen(prefix)))
			result = each(arg, entry->d_name);
	closedir(directory);
	return result;
}

static int remove_file(void *arg, const char *name)
{
	const int *directory = arg;

	unlinkat(*directory, name, 0);
	return 0;
}

/* The pins of links are removed first, since programs must exist until their links are removed. */
void folder_remove_files(const char *path)
{
	int fd = open_directory(path);

	if (fd < 0)
		return;
	for_each_entry_with_prefix(open_directory(path), "link_", remove_file, &fd);
	for_each_entry_with_prefix(open_directory(path), "", remove_file, &fd);
	close(fd);
}

static int remove_folder_tree(const char *path)
{
	char pins[PATH_BYTES + sizeof(PINS) + 1];

	snprintf(pins, sizeof(pins), "%s/" PINS, path);
	folder_remove_files(pins);
	rmdir(pins);
	folder_remove_files(path);
	return rmdir(path) ? -errno : 0;
}

/* Removes a folder if no process holds its lock: a killed process has left it. */
static int remove_folder_if_unlocked(void *arg, const char *name)
{
	char path[sizeof(ROOT) + 1 + NAME_MAX];
	int fd;

	(void)arg;
	snprintf(path, sizeof(path), ROOT "/%s", name);
	fd = open_directory(path);
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		remove_folder_tree(path);
	if (fd >= 0)
		close(fd);
	return 0;
}

void folder_remove_abandoned(void)
{
	for_each_entry_with_prefix(open_directory(ROOT), NEW_PREFIX, remove_folder_if_unlocked,
				   NULL);
	for_each_entry_with_prefix(open_directory(ROOT), GONE_PREFIX, remove_folder_if_unlocked,
				   NULL);
}

static int set_root_lock_error(int code, struct stackmap_error *error)
{
	if (code == EPERM || code == EACCES)
		return error_set(error, code,
				 ROOT ": %s; instances are for root, or who may write to the BPF "
				      "file system",
				 strerror(code));
	if (code == EAGAIN)
		return error_set(error, code,
				 ROOT
				 ": another command has held its lock for %d s; go on with it or "
				 "end it if it is stopped",
				 ROOT_MS / 1000);
	return error_set(error, code, ROOT ": %s", strerror(code));
}

static struct folder *allocate_folder(const char *name, const char *prefix)
{
	struct folder *folder = calloc(1, sizeof(*folder));

	if (!folder)
		return NULL;
	folder->fd = folder->pins = -1;
	snprintf(folder->name, sizeof(folder->name), "%s", name);
	snprintf(folder->path, sizeof(folder->path), ROOT "/%s%s", prefix, name);
	return folder;
}

static int open_folder_and_its_pins_directory(struct folder *folder)
{
	folder->fd = open_directory(folder->path);
	if (folder->fd < 0)
		return folder->fd;
	folder->pins = openat(folder->fd, PINS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder->pins < 0 ? -errno : 0;
}

static int make_folder_and_pins(struct folder *folder)
{
	if (mkdir(folder->path, MODE_OWNER))
		return errno == EEXIST ? -EBUSY : -errno;
	folder->claimed = true;
	if (mkdir(folder_pin_path(folder, ""), MODE_OWNER))
		return -errno;
	return open_folder_and_its_pins_directory(folder)
		       ?: flock(folder->fd, LOCK_EX) ? -errno
						     : 0;
}

int folder_create_and_lock(const char *name, struct folder **out, struct stackmap_error *error)
{
	struct folder *folder;
	char path[PATH_BYTES];
	int root, result = check_instance_name(name, error);

	if (result)
		return result;
	snprintf(path, sizeof(path), ROOT "/%s", name);
	root = root_make_and_lock(ROOT_MS);
	if (root < 0)
		return set_root_lock_error(-root, error);
	folder_remove_abandoned();
	folder = allocate_folder(name, NEW_PREFIX);
	result = !folder ? -ENOMEM : !access(path, F_OK) ? -EEXIST : make_folder_and_pins(folder);
	root_remove_if_empty_and_unlock(root);
	if (result) {
		folder_close(&folder);
		if (result == -EEXIST)
			return error_set(
				error, EEXIST,
				"%s: there is such an instance; end it by 'stackmap stop %s'", name,
				name);
		if (result == -EBUSY)
			return error_set(error, EBUSY, "%s: another process is starting it", name);
		return error_set_errno(error, -result, name);
	}
	*out = folder;
	return 0;
}

/* Lets the members of a group enter the folder. The BPF file system gets a mode in which all users
 * may enter it, but not list it. */
static int grant_group_access_to_folder(const struct folder *folder, gid_t group)
{
	struct stat status;

	if (group == FOLDER_NO_GROUP)
		return 0;
	if (fchown(folder->fd, -1, group) || fchmod(folder->fd, MODE_GROUP) ||
	    stat(ROOT_BPFFS, &status) || chmod(ROOT_BPFFS, (status.st_mode & 07777) | MODE_ENTER))
		return -errno;
	return 0;
}

int folder_publish_with_group(struct folder *folder, gid_t group, struct stackmap_error *error)
{
	char path[PATH_BYTES];
	int root = root_make_and_lock(ROOT_MS), result;

	if (root < 0)
		return set_root_lock_error(-root, error);
	result = grant_group_access_to_folder(folder, group);
	snprintf(path, sizeof(path), ROOT "/%s", folder->name);
	if (!result && rename(folder->path, path))
		result = -errno;
	root_remove_if_empty_and_unlock(root);
	if (result)
		return error_set_errno(error, -result, folder->name);
	memcpy(folder->path, path, sizeof(path));
	folder->claimed = false;
	return 0;
}

static int set_open_error(const char *name, int code, struct stackmap_error *error)
{
	char path[PATH_BYTES];
	struct stat status;

	snprintf(path, sizeof(path), ROOT "/%s", name);
	if (code == ENOENT)
		return error_set(error, code, "%s: no such instance; 'stackmap status' lists them",
				 name);
	if (code == EPERM)
		return error_set(error, code,
				 "%s: not trusted: it or " ROOT " belongs to another user than "
				 "root or you",
				 name);
	if (code == EACCES && !stat(path, &status) && status.st_uid != geteuid())
		return error_set(error, code,
				 "%s: %s: it belongs to user %u, and only this user and root may "
				 "open it",
				 name, strerror(code), status.st_uid);
	return error_set_errno(error, code, name);
}

int folder_open(const char *name, struct folder **out, struct stackmap_error *error)
{
	struct stat root, status;
	struct folder *folder;
	int result = check_instance_name(name, error);

	if (result)
		return result;
	folder = allocate_folder(name, "");
	result = folder ? open_folder_and_its_pins_directory(folder) : -ENOMEM;
	if (!result && (stat(ROOT, &root) || fstat(folder->fd, &status)))
		result = -errno;
	/* The root directory and the folder must belong to root or to this user. */
	if (!result && !(root_trusts_owner(root.st_uid) && root_trusts_owner(status.st_uid)))
		result = -EPERM;
	if (!result) {
		*out = folder;
		return 0;
	}
	folder_close(&folder);
	return set_open_error(name, -result, error);
}

void folder_close(struct folder **folder)
{
	struct folder *gone = *folder;

	if (!gone)
		return;
	if (gone->claimed) {
		/* If the root's lock is not free in time, the folder is removed without the
		 * lock. */
		int root = root_make_and_lock(ROOT_MS_ENDING);

		remove_folder_tree(gone->path);
		root_remove_if_empty_and_unlock(root);
	}
	if (gone->pins >= 0)
		close(gone->pins);
	if (gone->fd >= 0)
		close(gone->fd);
	free(gone);
	*folder = NULL;
}

static int set_lock_error(const struct folder *folder, const char *holder,
			  struct stackmap_error *error)
{
	if (errno == EWOULDBLOCK)
		return error_set(error, EBUSY, "%s: another %s", folder->name, holder);
	return error_set(error, errno, "%s: it cannot be locked: %s", folder->name,
			 strerror(errno));
}

int folder_lock(struct folder *folder, struct stackmap_error *error)
{
	if (!flock(folder->fd, LOCK_EX | LOCK_NB))
		return 0;
	return set_lock_error(folder, "command is changing it; try again", error);
}

int folder_lock_wait(struct folder *folder, struct stackmap_error *error)
{
	while (flock(folder->fd, LOCK_EX | LOCK_NB)) {
		int code = errno == EWOULDBLOCK && is_end_requested() ? EINTR : errno;

		if (code != EWOULDBLOCK)
			return error_set_errno(error, code, folder->name);
		sleep_until_timeout_or_signal(LOCK_TRY_MS);
	}
	return 0;
}

int folder_lock_reader(struct folder *folder, struct stackmap_error *error)
{
	if (!flock(folder->pins, LOCK_EX | LOCK_NB))
		return 0;
	return set_lock_error(folder, "process reads its events", error);
}

bool folder_still_exists(const struct folder *folder)
{
	struct stat here, there;

	return !fstat(folder->fd, &here) && !stat(folder->path, &there) &&
	       here.st_ino == there.st_ino;
}

int folder_remove(struct folder *folder, struct stackmap_error *error)
{
	char path[PATH_BYTES];
	int root = root_make_and_lock(ROOT_MS), result;

	if (root < 0)
		return set_root_lock_error(-root, error);
	snprintf(path, sizeof(path), ROOT "/" GONE_PREFIX "%s-%d", folder->name, getpid());
	result = rename(folder->path, path) ? -errno : remove_folder_tree(path);
	root_remove_if_empty_and_unlock(root);
	return result ? error_set_errno(error, -result, folder->name) : 0;
}

int folder_each_pin(struct folder *folder, const char *prefix,
		    int (*each)(void *arg, const char *pin), void *arg)
{
	return for_each_entry_with_prefix(open_directory(folder_pin_path(folder, "")), prefix, each,
					  arg);
}

struct listing {
	int (*each)(void *arg, const char *name);
	void *arg;
};

static int call_back_for_instance_folder(void *arg, const char *name)
{
	struct listing *listing = arg;

	return name[0] == '_' ? 0 : listing->each(listing->arg, name);
}

int folder_each_instance(int (*each)(void *arg, const char *name), void *arg,
			 struct stackmap_error *error)
{
	struct listing listing = {.each = each, .arg = arg};
	int root = access(ROOT, F_OK) ? -ENOENT : root_make_and_lock(ROOT_MS);

	if (root == -ENOENT)
		return 0;
	if (root < 0)
		return set_root_lock_error(-root, error);
	folder_remove_abandoned();
	root_remove_if_empty_and_unlock(root);
	return for_each_entry_with_prefix(open_directory(ROOT), "", call_back_for_instance_folder,
					  &listing);
}
