/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/self/cgroup has the process's path in each cgroup hierarchy. /proc/self/mountinfo says
 * where a hierarchy is mounted, and which of its folders is the root of the mount (cgroups(7)). If
 * the path is outside of this root folder, as in a container that shares its host's cgroup
 * namespace, the root of the mount is used instead.
 */
#include "privilege/memory_limit.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hierarchy {
	/* type of the file system and mount option by which a mount of the hierarchy is recognised;
	 * option NULL: by the type alone */
	const char *type, *option;
	const char *limit; /* name of the file that has the limit of a cgroup */
};

static const struct hierarchy hierarchies[] = {
	{"cgroup2", NULL, "memory.max"},
	{"cgroup", "memory", "memory.limit_in_bytes"},
};

static u64 smaller_memory_limit(u64 a, u64 b)
{
	return a < b ? a : b;
}

static FILE *open_file_in(const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/*
 * Reads the limit in a cgroup's file. UINT64_MAX: no limit: the file has "max", or does
 * not exist (as in the root of cgroup2).
 */
static u64 read_cgroup_limit(const char *cgroup, const char *name)
{
	FILE *file = open_file_in(cgroup, name);
	unsigned long long bytes;
	bool has_limit;

	if (!file)
		return UINT64_MAX;
	has_limit = fscanf(file, "%llu", &bytes) == 1;
	fclose(file);
	return has_limit ? bytes : UINT64_MAX;
}

static bool comma_list_has_item(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, word, length) && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* Finds root folder and mount point of a hierarchy in mountinfo, proc_pid_mountinfo(5). */
static bool find_hierarchy_mount(const char *proc, const struct hierarchy *hierarchy,
				 char root[PATH_MAX], char place[PATH_MAX])
{
	char type[64], options[1024];
	FILE *file = open_file_in(proc, "mountinfo");
	bool found = false;
	size_t room = 0;
	char *line = NULL;

	while (file && !found && getline(&line, &room, file) > 0) {
		const char *rest = strstr(line, " - ");

		found = rest && sscanf(line, "%*s %*s %*s %4095s %4095s", root, place) == 2 &&
			sscanf(rest, " - %63s %*s %1023s", type, options) == 2 &&
			!strcmp(type, hierarchy->type) &&
			(!hierarchy->option || comma_list_has_item(options, hierarchy->option));
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/*
 * Finds the process's path in a hierarchy. The line is "0::/path" for cgroup2, "4:cpu,memory:/path"
 * for others.
 */
static bool find_cgroup_path(const char *proc, const struct hierarchy *hierarchy,
			     char path[PATH_MAX])
{
	FILE *file = open_file_in(proc, "cgroup");
	bool found = false;
	size_t room = 0;
	char *line = NULL;

	while (file && !found && getline(&line, &room, file) > 0) {
		char *controllers = strchr(line, ':'), *own;

		own = controllers ? strchr(++controllers, ':') : NULL;
		if (!own)
			continue;
		*own++ = 0;
		own[strcspn(own, "\n")] = 0;
		found = (hierarchy->option ? comma_list_has_item(controllers, hierarchy->option)
					   : !*controllers) &&
			snprintf(path, PATH_MAX, "%s", own) < PATH_MAX;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static u64 least_limit_of_hierarchy(const char *proc, const struct hierarchy *hierarchy)
{
	char root[PATH_MAX], place[PATH_MAX], path[PATH_MAX], cgroup[2 * PATH_MAX];
	const char *below;
	u64 limit = UINT64_MAX;
	size_t length;

	if (!find_hierarchy_mount(proc, hierarchy, root, place) ||
	    !find_cgroup_path(proc, hierarchy, path))
		return limit;
	/* length of the path of the mount's root folder, which the path below the mount point does
	 * not have */
	length = strcmp(root, "/") ? strlen(root) : 0;
	below = strncmp(path, root, length) || strstr(path, "/..") ? "" : path + length;
	length = strlen(place);
	snprintf(cgroup, sizeof(cgroup), "%s%s", place, below);
	while (true) {
		char *slash;

		limit = smaller_memory_limit(limit, read_cgroup_limit(cgroup, hierarchy->limit));
		slash = strrchr(cgroup + length, '/');
		if (!slash)
			return limit;
		*slash = 0;
	}
}

u64 memory_limit_of_cgroups(const char *proc)
{
	u64 limit = UINT64_MAX;

	for (size_t i = 0; i < sizeof(hierarchies) / sizeof(*hierarchies); i++)
		limit = smaller_memory_limit(limit,
					     least_limit_of_hierarchy(proc, &hierarchies[i]));
	return limit;
}

static u64 known; /* the value that memory_limit() returns; 0: not computed yet */

u64 memory_limit(void)
{
	if (!known)
		known = smaller_memory_limit((u64)sysconf(_SC_PHYS_PAGES) *
						     (u64)sysconf(_SC_PAGESIZE),
					     memory_limit_of_cgroups("/proc/self"));
	return known;
}

void memory_limit_lower(u64 bytes)
{
	known = smaller_memory_limit(memory_limit(), bytes ?: 1);
}

static u64 share = UINT64_MAX;

u64 memory_limit_of_this_process(void)
{
	return share;
}

void memory_limit_of_this_process_set(u64 bytes)
{
	share = bytes;
}
