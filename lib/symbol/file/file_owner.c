/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID belongs to the user of the process; stat() on it takes no lock of the process. */
#include "file_owner.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_system.h"
#include "mapped_file.h"

u64 file_owner_process(u32 tgid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", tgid);
	if (stat(path, &status))
		return FILE_OWNER_NONE;
	/* The kernel gives root as the owner of a process that is just ending. */
	return status.st_uid || !access(path, F_OK) ? status.st_uid : FILE_OWNER_NONE;
}

u64 file_owner(const struct mapping_record *record)
{
	u64 base;

	if (record->key.kind == MAPPING_ANON)
		return file_owner_process(mapped_process(record, &base));
	if (record->key.kind != MAPPING_FILE)
		return FILE_OWNER_ROOT;
	if (file_system_is_of_others(record->file_system))
		return FILE_OWNER_MOUNT | record->key.device;
	return record->owner;
}

bool file_owner_trusted(u64 owner)
{
	return owner == FILE_OWNER_KERNEL || owner == FILE_OWNER_TABLES ||
	       owner == FILE_OWNER_ANALYSES || owner == FILE_OWNER_ROOT || owner == geteuid();
}
