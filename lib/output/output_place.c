/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Links are followed one by one, and each is checked first: the kernel refuses links of other users
 * only in sticky folders, and only if fs.protected_symlinks is set. The folder is opened once, so
 * later operations are in the same folder, even if the path to it changes.
 */
#include "output/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "error.h"
#include "privilege/capability.h"

#define LINKS_MAX 40 /* the kernel's limit */

bool output_place_trusts(uid_t owner)
{
	return !owner || owner == geteuid();
}

int output_failed(const char *path, int result, struct stackmap_error *error)
{
	return error_set(error, -result, "%s: cannot be written: %s", path, strerror(-result));
}

/* Goes from the current folder to the folder of `path`. */
static int enter(struct output_place *place, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	int before = place->folder;

	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	if (strlen(path) >= PATH_MAX || strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
	strcpy(place->name, name);
	place->folder = openat(before, slash ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (before >= 0)
		close(before);
	return place->folder < 0 ? -errno : 0;
}

static int look(struct output_place *place)
{
	if (fstatat(place->folder, place->name, &place->status, AT_SYMLINK_NOFOLLOW)) {
		place->exists = false;
		return errno == ENOENT ? 0 : -errno;
	}
	place->exists = true;
	return 0;
}

/* True for a link in /proc, which the kernel makes for an open file: its text is no usable path. */
static bool is_made_by_kernel(const struct output_place *place)
{
	struct statfs system;

	return !fstatfs(place->folder, &system) && system.f_type == PROC_SUPER_MAGIC;
}

static int follow(struct output_place *place)
{
	char target[PATH_MAX];
	ssize_t bytes;

	if (!output_place_trusts(place->status.st_uid))
		return -EPERM;
	bytes = readlinkat(place->folder, place->name, target, sizeof(target) - 1);
	if (bytes < 0)
		return -errno;
	target[bytes] = '\0';
	return enter(place, target) ?: look(place);
}

static int find(const char *path, struct output_place *place)
{
	int links = 0, result = enter(place, path) ?: look(place);

	while (!result && place->exists && S_ISLNK(place->status.st_mode) &&
	       !is_made_by_kernel(place))
		result = ++links > LINKS_MAX ? -ELOOP : follow(place);
	return result;
}

int output_place_find(const char *path, struct output_place *place, struct stackmap_error *error)
{
	struct output_place found = {.folder = AT_FDCWD};
	int result = find(path, &found);

	if (!result) {
		*place = found;
		return 0;
	}
	output_place_close(&found);
	if (result == -EPERM)
		return error_set(error, EPERM,
				 "%s: a link of user %u, whom you need not trust, is not followed: "
				 "remove it, or choose another name",
				 path, found.status.st_uid);
	return output_failed(path, result, error);
}

void output_place_close(struct output_place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	place->folder = -1;
}

bool output_place_old(const struct output_place *place, char old[NAME_MAX + 1])
{
	return snprintf(old, NAME_MAX + 1, "%s.old", place->name) <= NAME_MAX;
}

/*
 * True if this user may move an existing file: in a sticky folder only the owner of the file or of
 * the folder may.
 */
static bool may_move(const struct output_place *place, const struct stat *file)
{
	struct stat folder;

	if (fstat(place->folder, &folder) || !(folder.st_mode & S_ISVTX))
		return true;
	return file->st_uid == geteuid() || folder.st_uid == geteuid() ||
	       capability_held() & CAPABILITY(CAP_FOWNER);
}

static int check_old(const struct output_place *place)
{
	char old[NAME_MAX + 1];
	struct stat status;

	if (!output_place_old(place, old))
		return -ENAMETOOLONG;
	if (!place->exists)
		return 0;
	if (fstatat(place->folder, old, &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return may_move(place, &status) ? 0 : -EPERM;
}

int output_place_check(const struct output_place *place, bool kept, const char *path,
		       struct stackmap_error *error)
{
	int result;

	if (place->exists && S_ISDIR(place->status.st_mode))
		return output_failed(path, -EISDIR, error);
	if (place->exists && !may_move(place, &place->status))
		return error_set(error, EPERM,
				 "%s: belongs to user %u, and cannot be replaced in a folder where "
				 "each keeps his own: choose another name",
				 path, place->status.st_uid);
	result = kept ? check_old(place) : 0;
	if (!result)
		return 0;
	return error_set(error, -result, "%s: cannot be renamed to %s.old: %s", path, path,
			 strerror(-result));
}
