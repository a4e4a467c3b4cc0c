/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where nobody has mounted tracefs, a detached mount of our own gives its names: it is attached to
 * no directory, seen by no other process, and gone with its last file descriptor.
 */
#include "tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

static int open_directory(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int mount_detached(void)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC), mount = -1, err;

	if (context < 0)
		return -errno;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	err = mount < 0 ? -errno : 0;
	close(context);
	return err ? err : mount;
}

static int open_events_unmounted(void)
{
	int mount = mount_detached(), events;

	if (mount < 0)
		return mount;
	events = open_directory(mount, "events");
	close(mount);
	return events;
}

int tracefs_open_events(void)
{
	int events = open_directory(AT_FDCWD, "/sys/kernel/tracing/events");

	if (events == -ENOENT)
		events = open_directory(AT_FDCWD, "/sys/kernel/debug/tracing/events");
	if (events == -ENOENT)
		events = open_events_unmounted();
	return events;
}
