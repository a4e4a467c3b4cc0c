/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In /proc and /proc/PID/task, directories whose names are numbers are processes and threads. */
#include "capture/load/proc_tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/file/whole_file.h"

/* Calls each() for the entries of a directory whose names are numbers. */
static int for_each_numeric_entry(const char *path, int (*each)(void *arg, u32 number), void *arg)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int result = 0;

	while (directory && !result && (entry = readdir(directory))) {
		char *end;
		unsigned long number = strtoul(entry->d_name, &end, 10);

		if (end != entry->d_name && !*end)
			result = each(arg, number);
	}
	if (directory)
		closedir(directory);
	return result;
}

struct walk {
	int (*each)(void *arg, u32 tgid, u32 tid);
	void *arg;
	u32 tgid;
};

static int call_back_for_thread(void *arg, u32 tid)
{
	const struct walk *walk = arg;

	return walk->each(walk->arg, walk->tgid, tid);
}

static int call_back_for_threads_of_process(void *arg, u32 tgid)
{
	struct walk *walk = arg;
	char path[64];

	walk->tgid = tgid;
	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	return for_each_numeric_entry(path, call_back_for_thread, walk);
}

int proc_tasks_each(int (*each)(void *arg, u32 tgid, u32 tid), void *arg)
{
	struct walk walk = {.each = each, .arg = arg};

	return for_each_numeric_entry("/proc", call_back_for_threads_of_process, &walk);
}

u32 proc_task_process_id(u32 tid)
{
	char path[64];
	u32 tgid = 0;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	whole_file_scan(path, "Tgid: %u", &tgid);
	return tgid;
}

bool proc_task_comm(u32 tgid, u32 tid, char comm[TASK_COMM_BYTES])
{
	char path[64];
	FILE *file;
	size_t bytes;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", tgid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	memset(comm, 0, TASK_COMM_BYTES);
	bytes = fread(comm, 1, TASK_COMM_BYTES - 1, file);
	fclose(file);
	if (bytes && comm[bytes - 1] == '\n')
		comm[bytes - 1] = 0;
	return bytes > 0;
}

#define DELETED " (deleted)" /* the kernel appends it to the path of a removed cgroup */

static bool copy_cgroup_path(const char *line, char path[PATH_MAX])
{
	size_t length = strcspn(line, "\n");

	if (length > strlen(DELETED) &&
	    !strncmp(line + length - strlen(DELETED), DELETED, strlen(DELETED)))
		length -= strlen(DELETED);
	if (length >= PATH_MAX)
		return false;
	memcpy(path, line, length);
	path[length] = 0;
	return true;
}

bool proc_task_cgroup(u32 tgid, u32 tid, char path[PATH_MAX])
{
	char line[PATH_MAX + 16];
	bool found = false;
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%u/task/%u/cgroup", tgid, tid);
	file = fopen(line, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, "0::/", 4) && copy_cgroup_path(line + 3, path);
	if (file)
		fclose(file);
	return found;
}
