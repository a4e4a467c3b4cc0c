/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

#include "capture/bpffs/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "interrupt.h"

#define LOCK_TRY_MS 10

static int lock_file_with_timeout(int fd, int ms)
{
	for (; ms > 0; ms -= LOCK_TRY_MS) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		if (interrupted())
			return -EINTR;
		sleep_until_timeout_or_signal(LOCK_TRY_MS);
	}
	return -EAGAIN;
}

bool root_trusts_owner(uid_t owner)
{
	return !owner || owner == geteuid();
}

/* Tries to make and lock the root. -ENOENT: the directory was removed meanwhile. */
static int try_root_lock(int ms)
{
	struct stat status, root;
	int fd, result;

	if (mkdir(ROOT, 0711) && errno != EEXIST)
		return -errno;
	fd = open(ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	result = fstat(fd, &status) ? -errno : root_trusts_owner(status.st_uid) ? 0 : -EPERM;
	result = result ?: lock_file_with_timeout(fd, ms);
	/* The last user removes the directory, and a process that waited for the lock then has
	 * locked a removed directory. */
	if (!result &&
	    (stat(ROOT, &root) || root.st_ino != status.st_ino || root.st_dev != status.st_dev))
		result = -ENOENT;
	if (!result)
		return fd;
	close(fd);
	return result;
}

int root_make_and_lock(int ms)
{
	struct statfs mounted;
	int result;

	if ((statfs(ROOT_BPFFS, &mounted) || mounted.f_type != BPF_FS_MAGIC) &&
	    mount("bpf", ROOT_BPFFS, "bpf", 0, "mode=0700"))
		return -errno;
	do
		result = try_root_lock(ms);
	while (result == -ENOENT);
	return result;
}

/* Removes the root directory if it is empty, and unlocks it. A process that waits for the lock
 * meanwhile notices that the directory was removed, and makes it again. */
void root_remove_if_empty_and_unlock(int root)
{
	if (root < 0)
		return;
	rmdir(ROOT);
	close(root);
}

bool root_has_instances(void)
{
	DIR *root = opendir(ROOT);
	struct dirent *entry;
	bool found = false;

	while (root && !found && (entry = readdir(root)))
		found = entry->d_name[0] != '.' && entry->d_name[0] != '_';
	if (root)
		closedir(root);
	return found;
}
