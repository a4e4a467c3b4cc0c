/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mounting, making, locking. */
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

static int mount_bpffs(void)
{
	struct statfs status;

	if (!statfs(ROOT_BPFFS, &status) && status.f_type == BPF_FS_MAGIC)
		return 0;
	return mount("bpf", ROOT_BPFFS, "bpf", 0, "mode=0700") ? -errno : 0;
}

static int lock_within_time(int fd, int ms)
{
	for (; ms > 0; ms -= LOCK_TRY_MS) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		if (interrupted())
			return -EINTR;
		interrupt_nap(LOCK_TRY_MS);
	}
	return -EAGAIN;
}

/* The last user removes the directory; who waited for its lock then has that of none. */
static bool is_home(int fd)
{
	struct stat here, there;

	return !fstat(fd, &here) && !stat(ROOT, &there) && here.st_ino == there.st_ino &&
	       here.st_dev == there.st_dev;
}

/* Anybody may make folders where the BPF file system has its usual mode: one of another user, who
 * could put anything into it, is none of ours. */
bool root_trusts(uid_t owner)
{
	return !owner || owner == geteuid();
}

static int check_owner(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	return root_trusts(status.st_uid) ? 0 : -EPERM;
}

/* -ENOENT: it went away meanwhile. */
static int lock_once(int ms)
{
	int fd, result;

	if (mkdir(ROOT, 0711) && errno != EEXIST)
		return -errno;
	fd = open(ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	result = check_owner(fd) ?: lock_within_time(fd, ms);
	if (!result && !is_home(fd))
		result = -ENOENT;
	if (!result)
		return fd;
	close(fd);
	return result;
}

int root_lock(int ms)
{
	int result = mount_bpffs();

	if (result)
		return result;
	do
		result = lock_once(ms);
	while (result == -ENOENT);
	return result;
}

/* Who waits for the lock meanwhile sees that it is another one then. */
void root_unlock(int root)
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
