/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters are read as they are, while programs go on counting. The kernel tells in /proc what a
 * map takes, and who holds a lock: to ask for the lock instead would be in the way of others. */
#include "capture/status.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <bpf/libbpf.h>

#include "capture/bpffs/engine_folder.h"
#include "capture/bpffs/folder.h"
#include "capture/instance.h"
#include "capture/load/skeleton.h"

enum user_way capture_user_way(const struct capture *capture)
{
	const struct capture_config *config = &capture->plan.config;

	if (!config->user_stacks)
		return USER_WAY_NONE;
	if (config->user_unwind == USER_UNWIND_FP)
		return USER_WAY_FP;
	return config->deferral == DEFERRAL_TASK_WORK ? USER_WAY_DEFERRED : USER_WAY_ASSISTED;
}

const char *capture_user_refusal(const struct capture *capture)
{
	return capture->refusal.message[0] ? capture->refusal.message : NULL;
}

static u64 map_bytes(int fd)
{
	unsigned long long bytes = 0;
	char line[128];
	FILE *info;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", fd);
	info = fopen(line, "re");
	if (!info)
		return 0;
	while (fgets(line, sizeof(line), info))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	fclose(info);
	return bytes;
}

static u64 memory_of_maps(const struct capture *capture)
{
	const struct bpf_map *map;
	u64 bytes = 0;

	bpf_object__for_each_map(map, capture_programs(capture)->obj)
	{
		if (!engine_shares(bpf_map__name(map)))
			bytes += map_bytes(bpf_map__fd(map));
	}
	return bytes;
}

static u64 memory_of_tables(const struct capture *capture)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < TABLE_ROLES; i++)
		if (capture->generations.tables[i].fd >= 0)
			bytes += map_bytes(capture->generations.tables[i].fd);
	return bytes;
}

/* A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 1234 00:1d:5678 0 EOF". */
static pid_t holder_in(const char *line, const struct stat *file)
{
	unsigned int major_number, minor_number;
	unsigned long long inode;
	int pid;

	if (sscanf(line, "%*d: FLOCK %*s WRITE %d %x:%x:%llu", &pid, &major_number, &minor_number,
		   &inode) != 4)
		return 0;
	return inode == file->st_ino && makedev(major_number, minor_number) == file->st_dev ? pid
											    : 0;
}

static pid_t lock_holder(const char *path)
{
	struct stat file;
	char line[256];
	pid_t pid = 0;
	FILE *locks;

	if (stat(path, &file))
		return 0;
	locks = fopen("/proc/locks", "re");
	if (!locks)
		return 0;
	while (!pid && fgets(line, sizeof(line), locks))
		pid = holder_in(line, &file);
	fclose(locks);
	return pid;
}

void capture_table_stat(struct capture *capture, struct table_stat *stacks)
{
	const struct generation_table *table = generation_current(capture);

	if (table)
		stack_table_stat(table->memory, &capture->plan.geometry, stacks);
}

void capture_status(struct capture *capture, struct folder *folder, struct instance_status *status)
{
	*status = (struct instance_status){
		.paused = capture_is_paused(capture),
		.flight = capture->plan.config.flight,
		.reader = lock_holder(folder_pin_path(folder, "")),
		.user_way = capture_user_way(capture),
		.rings = map_bytes(bpf_map__fd(capture_programs(capture)->maps.rings)),
		.tables = memory_of_tables(capture),
	};
	status->memory = memory_of_maps(capture) + status->tables;
	capture_table_stat(capture, &status->stacks);
	capture_totals(capture, &status->ledger);
}
