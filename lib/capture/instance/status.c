/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters are read while programs go on counting. The memory of maps and the holders of locks are
 * read from /proc; trying to take a lock would disturb other processes. */
#include "capture/instance/status.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <bpf/libbpf.h>

#include "capture/bpffs/engine_folder.h"
#include "capture/bpffs/folder.h"
#include "capture/drain/file_ledger.h"
#include "capture/load/skeleton.h"
#include "capture/load/text_ranges.h"
#include "counted_row.h"
#include "stack_map.h"
#include "stack_pack.h"
#include "symbol/file/whole_file.h"

enum user_way instance_user_stack_method(const struct loaded *loaded)
{
	const struct capture_config *config = &loaded->plan.config;

	if (!config->user_stacks)
		return USER_WAY_NONE;
	if (config->user_unwind == USER_UNWIND_FP)
		return USER_WAY_FP;
	return config->deferral == DEFERRAL_TASK_WORK ? USER_WAY_DEFERRED : USER_WAY_ASSISTED;
}

static u64 read_memory_bytes_of_map(int fd)
{
	unsigned long long bytes = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	whole_file_scan(path, "memlock: %llu", &bytes);
	return bytes;
}

/* The process that holds the lock of a file; 0: the lock is free. The lines of /proc/locks are like
 * "1: FLOCK  ADVISORY  WRITE 1234 00:1d:5678 0 EOF". */
static pid_t find_lock_holder(const char *path)
{
	unsigned int major_number, minor_number;
	unsigned long long inode;
	struct stat file;
	char line[256];
	pid_t pid = 0;
	FILE *locks;
	int holder;

	if (stat(path, &file))
		return 0;
	locks = fopen("/proc/locks", "re");
	if (!locks)
		return 0;
	while (!pid && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*d: FLOCK %*s WRITE %d %x:%x:%llu", &holder, &major_number,
			   &minor_number, &inode) == 4 &&
		    inode == file.st_ino && makedev(major_number, minor_number) == file.st_dev)
			pid = holder;
	fclose(locks);
	return pid;
}

void instance_read_table_stat(struct loaded *loaded, struct table_stat *stacks)
{
	const struct generation_table *table = generation_current_table(loaded);

	if (table)
		stack_table_stat(table->memory, &loaded->plan.geometry, stacks);
}

int instance_each_stack(struct loaded *loaded,
			int (*each)(void *arg, const struct stack_map_bin_stack *stack), void *arg)
{
	const struct generation_table *table = generation_current_table(loaded);
	const struct table_geometry *geometry = &loaded->plan.geometry;
	u64 frames[STACK_WORDS_MAX];
	int result = 0;

	for (u64 slot = 0; table && slot <= geometry->slot_mask && !result; slot++) {
		struct table_view *element = stack_map_at(table->memory, geometry, slot);
		struct stack_map_bin_stack stack = {.frames = frames};
		u32 flags;

		if (!element)
			continue;
		flags = IDENTITY_FLAGS(element->identity);
		stack.id = stack_map_id(table->memory, slot);
		stack.depth = IDENTITY_DEPTH(element->identity);
		stack.truncated = flags & STACK_TRUNCATED;
		stack.ref_count = atomic_load_relaxed(&element->ref_count);
		for (u32 i = 0; i < stack.depth && i < STACK_WORDS_MAX; i++)
			frames[i] = stack_frame(element->word, flags, i);
		if (stack.depth <= STACK_WORDS_MAX)
			text_ranges_mark_interrupted(loaded->kernel_text.memory, frames,
						     stack.depth);
		result = each(arg, &stack);
	}
	return result;
}

void instance_status_read(struct loaded *loaded, struct folder *folder,
			  struct instance_status *status)
{
	const struct capture_config *config = &loaded->plan.config;
	const struct bpf_map *map;

	*status = (struct instance_status){
		.paused = loaded_is_paused(loaded),
		.flight = loaded->plan.config.flight,
		.reader = find_lock_holder(folder_pin_path(folder, "")),
		.user_way = instance_user_stack_method(loaded),
		.rings = read_memory_bytes_of_map(bpf_map__fd(loaded_programs(loaded)->maps.rings)),
	};
	for (u32 i = 0; i < TABLE_ROLES; i++)
		if (loaded->tables[i].fd >= 0)
			status->tables += read_memory_bytes_of_map(loaded->tables[i].fd);
	self_stop_read(loaded, &status->stop);
	status->memory = status->tables;
	bpf_object__for_each_map(map, loaded_programs(loaded)->obj)
	{
		if (!engine_shares_map(bpf_map__name(map)))
			status->memory += read_memory_bytes_of_map(bpf_map__fd(map));
	}
	instance_read_table_stat(loaded, &status->stacks);
	status->rows_max = config->aggregate ? config->counted_rows : 0;
	for (u32 cpu = 0; status->rows_max && cpu < config->cpus; cpu++) {
		const struct counted_table *table = loaded_counted_table(loaded, cpu);
		u32 used = table ? counted_rows_in_use(table, status->rows_max) : 0;

		if (used > status->rows_used)
			status->rows_used = used;
	}
	sum_ledger_of_instance(loaded, &status->ledger);
}
