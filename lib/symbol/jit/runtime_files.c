/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * While a process lives its files are looked for anew: a runtime may begin one at any time. Of one
 * that has ended, what was kept is used: the map that was there, or else the folder where it may
 * have come. Nothing known of it, it had our /tmp, our ids, and our user or root.
 */
#include "runtime_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "jitdump_file.h"
#include "perf_map_file.h"
#include "symbol/file/file_place.h"
#include "symbol/file/open_limit.h"

struct kept {
	struct runtime_process process;
	int perf_map;
	int folder; /* if there was no map yet */
	int jitdump;
};

struct runtime_files {
	struct kept kept[RUNTIME_FILES_KEPT];
	u32 room;
	u32 count; /* so far: kept in turn */
};

int runtime_files_create(struct runtime_files **out)
{
	struct runtime_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->room = open_limit(RUNTIME_FILES_KEPT, 8);
	*out = files;
	return 0;
}

static void close_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void let_go(struct kept *kept)
{
	close_open(kept->perf_map);
	close_open(kept->folder);
	close_open(kept->jitdump);
}

static u32 kept_count(const struct runtime_files *files)
{
	return files->count < files->room ? files->count : files->room;
}

void runtime_files_free(struct runtime_files **files)
{
	if (!*files)
		return;
	for (u32 i = 0; i < kept_count(*files); i++)
		let_go(&(*files)->kept[i]);
	free(*files);
	*files = NULL;
}

static const struct kept *find(const struct runtime_files *files, u32 tgid, u64 since)
{
	for (u32 i = 0; i < kept_count(files); i++)
		if (files->kept[i].process.tgid == tgid && files->kept[i].process.since == since)
			return &files->kept[i];
	return NULL;
}

static void open_all(struct kept *kept)
{
	kept->folder = perf_map_folder(kept->process.tgid);
	kept->perf_map = kept->folder < 0 ? -1 : perf_map_open(kept->folder, &kept->process);
	if (kept->perf_map >= 0) {
		close(kept->folder);
		kept->folder = -1;
	}
	kept->jitdump = jitdump_open(&kept->process);
}

void runtime_files_keep(struct runtime_files *files, u32 tgid, u64 since)
{
	struct kept kept = {.process = {.tgid = tgid, .since = since}};
	struct kept *slot = &files->kept[files->count % files->room];

	if (find(files, tgid, since) || !runtime_process_read(&kept.process))
		return;
	open_all(&kept);
	if (files->count >= files->room)
		let_go(slot);
	*slot = kept;
	files->count++;
}

static int duplicate(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void take_kept(const struct kept *kept, struct runtime_names *names)
{
	if (names->perf_map < 0)
		names->perf_map = duplicate(kept->perf_map);
	if (names->perf_map < 0 && kept->folder >= 0)
		names->perf_map = perf_map_open(kept->folder, &kept->process);
	if (names->jitdump < 0)
		names->jitdump = duplicate(kept->jitdump);
}

static int open_by_our_id(u32 tgid, u64 since)
{
	const struct runtime_process process = {.since = since, .user = getuid(), .inner_id = tgid};
	int folder = file_place_below("/", "tmp");
	int fd = folder < 0 ? -1 : perf_map_open(folder, &process);

	close_open(folder);
	return fd;
}

struct runtime_names runtime_files_open(const struct runtime_files *files, u32 tgid, u64 since)
{
	const struct kept *kept = find(files, tgid, since);
	struct kept live = {{.tgid = tgid, .since = since}, -1, -1, -1};
	struct runtime_names names;

	if (runtime_process_read(&live.process))
		open_all(&live);
	names = (struct runtime_names){live.perf_map, live.jitdump};
	if (kept)
		take_kept(kept, &names);
	if (names.perf_map < 0 && live.folder < 0 && (!kept || kept->folder < 0))
		names.perf_map = open_by_our_id(tgid, since);
	close_open(live.folder);
	return names;
}
