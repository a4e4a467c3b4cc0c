/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID belongs to the user of the process, and is looked up without a lock of its memory. */
#include "file_owner.h"

#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapped_file.h"

static bool is_answered_by_others(u32 file_system)
{
	static const u32 magic[] = {
		FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC,
		SMB2_SUPER_MAGIC, V9FS_MAGIC,	    CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC,
		AFS_FS_MAGIC,	  CODA_SUPER_MAGIC,
	};

	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++)
		if (file_system == magic[i])
			return true;
	return false;
}

u64 file_owner_process(u32 tgid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", tgid);
	return stat(path, &status) ? FILE_OWNER_NONE : status.st_uid;
}

u64 file_owner(const struct mapping_record *record)
{
	u64 base;

	if (record->key.kind == MAPPING_ANON)
		return file_owner_process(mapped_process(record, &base));
	if (record->key.kind != MAPPING_FILE)
		return FILE_OWNER_ROOT;
	if (is_answered_by_others(record->file_system))
		return FILE_OWNER_MOUNT | record->key.device;
	return record->owner;
}

bool file_owner_trusted(u64 owner)
{
	return owner == FILE_OWNER_ROOT || owner == geteuid();
}
