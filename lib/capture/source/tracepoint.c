/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tracefs has all events by category, with those of modules. If it cannot be read, BTF has a
 * typedef btf_trace_NAME for each tracepoint of the kernel image: enough to attach to a whole name,
 * as raw tracepoints have no category.
 */
#include "tracepoint.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/feature/kernel_btf.h"
#include "scalar.h"

#define TYPEDEF_PREFIX "btf_trace_"

static int is_visible_directory(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

static void free_entries(struct dirent **entries, int count)
{
	while (count > 0)
		free(entries[--count]);
	free(entries);
}

static int scan(int events, const char *path, struct dirent ***entries)
{
	int count = scandirat(events, path, entries, is_visible_directory, alphasort);

	return count < 0 ? -errno : count;
}

/* A category whose module was unloaded meanwhile is skipped. */
static int walk_category(int events, const char *category, tracepoint_visit visit, void *arg)
{
	char name[2 * NAME_MAX + 2];
	struct dirent **entries;
	int count = scan(events, category, &entries), err = 0;

	if (count < 0)
		return count == -ENOMEM ? count : 0;
	for (int i = 0; i < count && !err; i++) {
		snprintf(name, sizeof(name), "%s:%s", category, entries[i]->d_name);
		err = visit(arg, name);
	}
	free_entries(entries, count);
	return err;
}

int tracepoint_each_event(int events, tracepoint_visit visit, void *arg)
{
	struct dirent **categories;
	int count = scan(events, ".", &categories), err = 0;

	if (count < 0)
		return count;
	/* "ftrace" has the formats of the tracer's own records, and "syscalls" single system calls,
	 * which are numbers of raw_syscalls; neither has tracepoints. */
	for (int i = 0; i < count && !err; i++)
		if (strcmp(categories[i]->d_name, "ftrace") &&
		    strcmp(categories[i]->d_name, "syscalls"))
			err = walk_category(events, categories[i]->d_name, visit, arg);
	free_entries(categories, count);
	return err;
}

static const char *tracepoint_of_type(const struct btf *btf, u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const char *name = btf_is_typedef(type) ? btf__name_by_offset(btf, type->name_off) : NULL;

	if (!name || strncmp(name, TYPEDEF_PREFIX, strlen(TYPEDEF_PREFIX)))
		return NULL;
	return name + strlen(TYPEDEF_PREFIX);
}

int tracepoint_each_btf(tracepoint_visit visit, void *arg)
{
	struct btf *btf = kernel_btf_load();
	int err = btf ? 0 : -errno;

	for (u32 id = 1; !err && id < btf__type_cnt(btf); id++) {
		const char *name = tracepoint_of_type(btf, id);

		if (name)
			err = visit(arg, name);
	}
	btf__free(btf);
	return err;
}
