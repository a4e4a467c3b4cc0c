/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Following tasks: only events of tasks in the BPF map `followed` are recorded. This file adds
 * existing tasks to the map; the BPF program at fork adds all tasks that these fork later. A thread
 * or child that starts while /proc is read is added by that program if its parent is in the map
 * already, or else by the next pass over /proc. Passes repeat until a pass finds no new task.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/loaded.h"
#include "capture/load/skeleton.h"
#include "error.h"

static bool add_task_to_followed_map(struct loaded *loaded, u32 tid, enum follow from)
{
	struct followed value = {.from = from};

	return !bpf_map_update_elem(bpf_map__fd(loaded_programs(loaded)->maps.followed), &tid,
				    &value, BPF_NOEXIST);
}

static u32 follow_existing_tasks_of_process(struct loaded *loaded, u32 pid);

/* Follows the children that a thread has now. The kernel lists them in the file `children`
 * (CONFIG_PROC_CHILDREN); without this file no children are found. */
static u32 follow_existing_children_of_thread(struct loaded *loaded, u32 pid, u32 tid)
{
	char path[64];
	FILE *file;
	u32 child, added = 0;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, tid);
	file = fopen(path, "re");
	while (file && fscanf(file, "%u", &child) == 1)
		added += follow_existing_tasks_of_process(loaded, child);
	if (file)
		fclose(file);
	return added;
}

static u32 follow_existing_threads_and_children(struct loaded *loaded, u32 pid, DIR *directory)
{
	struct dirent *entry;
	u32 added = 0;

	rewinddir(directory);
	while ((entry = readdir(directory))) {
		u32 tid = strtoul(entry->d_name, NULL, 10);

		if (!tid)
			continue;
		added += add_task_to_followed_map(loaded, tid, FOLLOW_NOW);
		added += follow_existing_children_of_thread(loaded, pid, tid);
	}
	return added;
}

/* Follows all threads and children of a process. Returns the number of tasks that were not followed
 * before. */
static u32 follow_existing_tasks_of_process(struct loaded *loaded, u32 pid)
{
	char path[64];
	DIR *directory;
	u32 pass, added = 0;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	directory = opendir(path);
	if (!directory)
		return 0;
	do {
		pass = follow_existing_threads_and_children(loaded, pid, directory);
		added += pass;
	} while (pass);
	closedir(directory);
	return added;
}

int loaded_follow_process(struct loaded *loaded, pid_t pid, struct stackmap_error *error)
{
	if (kill(pid, 0) && errno == ESRCH)
		return error_set(error, ESRCH, "-p %d: no such process", pid);
	follow_existing_tasks_of_process(loaded, pid);
	return 0;
}

int loaded_follow_command(struct loaded *loaded, pid_t pid, struct stackmap_error *error)
{
	if (add_task_to_followed_map(loaded, pid, FOLLOW_FROM_EXEC))
		return 0;
	return error_set(error, errno, "following the command: %s", strerror(errno));
}
