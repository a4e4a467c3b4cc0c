/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * If tracefs is not mounted, a detached mount is used (fsmount(2)): it has no mount point, other
 * processes do not see it, and it ends with its last file descriptor.
 */
#include "tracefs.h"
#include "symbol/file/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

int read_perf_type_of_pmu(const char *name)
{
	char path[96];
	int type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	return whole_file_scan(path, "%d", &type) ?: type;
}

static int open_directory(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_events_without_mount(void)
{
	int events, context = fsopen("tracefs", FSOPEN_CLOEXEC), mount = -1, err;

	if (context < 0)
		return -errno;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	err = mount < 0 ? -errno : 0;
	close(context);
	if (err)
		return err;
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
		events = open_events_without_mount();
	return events;
}
