/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Directories whose names are numbers. */
#include "capture/proc_tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers among the entries of a directory. */
static int each_number(const char *path, int (*each)(void *arg, u32 number), void *arg)
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

static int each_thread(void *arg, u32 tid)
{
	const struct walk *walk = arg;

	return walk->each(walk->arg, walk->tgid, tid);
}

static int each_process(void *arg, u32 tgid)
{
	struct walk *walk = arg;
	char path[64];

	walk->tgid = tgid;
	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	return each_number(path, each_thread, walk);
}

int proc_tasks_each(int (*each)(void *arg, u32 tgid, u32 tid), void *arg)
{
	struct walk walk = {.each = each, .arg = arg};

	return each_number("/proc", each_process, &walk);
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
