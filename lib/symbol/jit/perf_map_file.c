/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Symbolic links are not followed: a link would make us read, and show as names, what its maker may
 * not read. Neither does a second name count, for the same reason. */
#include "perf_map_file.h"

#include <errno.h>
#include <unistd.h>

#include "symbol/file/file_place.h"

int perf_map_folder(u32 tgid)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%u/root", tgid);
	return file_place_below(root, "tmp");
}

int perf_map_open(int folder, const struct runtime_process *process)
{
	struct stat status;
	char name[32];
	int place, fd = -ENOENT;

	snprintf(name, sizeof(name), "perf-%u.map", process->inner_id);
	place = file_place_in(folder, name);
	if (place < 0)
		return -ENOENT;
	if (!fstat(place, &status) && status.st_nlink == 1 &&
	    runtime_process_wrote(process, &status))
		fd = file_place_read(place);
	close(place);
	return fd;
}
