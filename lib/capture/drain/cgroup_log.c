/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's id of a cgroup is the inode number of its directory. The BPF programs keep the paths
 * of the cgroups that were created last. For an unknown id without such a path, all directories of
 * the file system are read, once in a round of reading the rings. A cgroup that is not found there
 * has been removed.
 *
 * A path may have several ids, when a cgroup was removed and made again.
 */
#include "capture/drain/cgroup_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "hash_index.h"

/* Inode number of the initial cgroup namespace, PROC_CGROUP_INIT_INO of the kernel. */
#define FIRST_NAMESPACE 0xeffffffbU

struct known_cgroup {
	u64 id; /* the kernel's id of the cgroup; 0 = unknown: the cgroup was removed before its id
		   was looked up */
	char *path; /* path of the cgroup; "" = unknown */
	u32 number; /* number of the cgroup in the file; 0 = not written to the file */
};

struct cgroup_log {
	char *mount; /* mount point of the cgroup2 file system; NULL = not mounted */
	const struct cgroup_path *paths;
	struct known_cgroup *known;
	u32 count, room;
	struct hash_index by_id, by_path;
	bool is_walked; /* all cgroup directories were read in this round */
};

char *cgroup_mount_find(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	char *found = NULL;

	while (mounts && !found && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_type, "cgroup2"))
			found = strdup(mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return found;
}

int cgroup_log_create(const char *mount, struct cgroup_log **out)
{
	struct cgroup_log *log = calloc(1, sizeof(*log));

	if (!log)
		return -ENOMEM;
	if (mount)
		log->mount = strdup(mount);
	if (mount && !log->mount) {
		free(log);
		return -ENOMEM;
	}
	*out = log;
	return 0;
}

void cgroup_log_free(struct cgroup_log **log)
{
	if (!*log)
		return;
	cgroup_log_begin_file(*log);
	free((*log)->mount);
	free(*log);
	*log = NULL;
}

void cgroup_log_use_paths(struct cgroup_log *log, const struct cgroup_path *paths)
{
	struct stat status;
	bool sees_all = !stat("/proc/self/ns/cgroup", &status) && status.st_ino == FIRST_NAMESPACE;

	/* In a cgroup namespace paths that this process sees begin at the namespace's root, while
	 * paths that the BPF programs read begin at the root of the hierarchy. */
	log->paths = sees_all ? paths : NULL;
}

void cgroup_log_begin_file(struct cgroup_log *log)
{
	for (u32 i = 0; i < log->count; i++)
		free(log->known[i].path);
	free(log->known);
	hash_index_free(&log->by_id);
	hash_index_free(&log->by_path);
	*log = (struct cgroup_log){.mount = log->mount, .paths = log->paths};
}

void cgroup_log_begin_round(struct cgroup_log *log)
{
	log->is_walked = false;
}

static bool cgroup_has_id(const void *known, u32 index, const void *id)
{
	return ((const struct known_cgroup *)known)[index].id == *(const u64 *)id;
}

static bool cgroup_has_path(const void *known, u32 index, const void *path)
{
	return !strcmp(((const struct known_cgroup *)known)[index].path, path);
}

static u32 hash_cgroup_id(u64 id)
{
	return hash_end(hash_word(0, id));
}

static u32 find_cgroup_by_id(const struct cgroup_log *log, u64 id)
{
	return hash_index_find(&log->by_id, hash_cgroup_id(id), cgroup_has_id, log->known, &id);
}

static u32 find_cgroup_by_path(const struct cgroup_log *log, const char *path)
{
	return hash_index_find(&log->by_path, hash_text(path), cgroup_has_path, log->known, path);
}

static int add_cgroup(struct cgroup_log *log, u64 id, const char *path)
{
	struct known_cgroup cgroup = {.id = id};
	u32 index = log->count;
	int result = 0;

	if (array_make_room(log->known, log->count, log->room))
		return -ENOMEM;
	cgroup.path = strdup(path);
	if (!cgroup.path)
		return -ENOMEM;
	log->known[log->count++] = cgroup;
	if (path[0] && find_cgroup_by_path(log, path) == HASH_INDEX_NONE)
		result = hash_index_add(&log->by_path, hash_text(path), index);
	if (id)
		result = result ?: hash_index_add(&log->by_id, hash_cgroup_id(id), index);
	return result;
}

static int add_cgroup_unless_known(struct cgroup_log *log, u64 id, const char *path)
{
	return find_cgroup_by_id(log, id) == HASH_INDEX_NONE ? add_cgroup(log, id, path) : 0;
}

static int add_cgroups_below(struct cgroup_log *log, DIR *directory, char *path, size_t length);

static int add_cgroup_of_subdirectory(struct cgroup_log *log, int parent,
				      const struct dirent *entry, char *path, size_t length)
{
	size_t bytes = strlen(entry->d_name);
	DIR *directory;
	int fd, result;

	if (length + 1 + bytes >= PATH_MAX)
		return 0;
	path[length] = '/';
	memcpy(path + length + 1, entry->d_name, bytes + 1);
	result = add_cgroup_unless_known(log, entry->d_ino, path);
	fd = openat(parent, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (directory)
		result = result ?: add_cgroups_below(log, directory, path, length + 1 + bytes);
	else if (fd >= 0)
		close(fd);
	return result;
}

/* Adds all cgroups below a directory, and closes the directory. A directory is left out if it
 * cannot be read or is removed meanwhile. */
static int add_cgroups_below(struct cgroup_log *log, DIR *directory, char *path, size_t length)
{
	struct dirent *entry;
	int result = 0;

	while (!result && (entry = readdir(directory)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") &&
		    strcmp(entry->d_name, ".."))
			result = add_cgroup_of_subdirectory(log, dirfd(directory), entry, path,
							    length);
	closedir(directory);
	return result;
}

static int add_all_cgroups(struct cgroup_log *log)
{
	DIR *directory = opendir(log->mount);
	char path[PATH_MAX] = "";
	struct stat root;
	int result;

	log->is_walked = true;
	if (!directory)
		return 0;
	result =
		fstat(dirfd(directory), &root) ? 0 : add_cgroup_unless_known(log, root.st_ino, "/");
	return add_cgroups_below(log, directory, path, 0) ?: result;
}

/* Adds a cgroup with a path that the BPF programs keep. A program may overwrite the element
 * meanwhile; the id is therefore compared after the path is copied. */
static int add_cgroup_from_program_path(struct cgroup_log *log, u64 id)
{
	char path[CGROUP_PATH_BYTES];

	for (u32 i = 0; log->paths && i < CGROUP_PATHS; i++) {
		const struct cgroup_path *made = &log->paths[i];

		if (__atomic_load_n(&made->id, __ATOMIC_ACQUIRE) != id)
			continue;
		memcpy(path, made->path, sizeof(path));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&made->id, __ATOMIC_RELAXED) != id)
			return 0;
		path[sizeof(path) - 1] = 0;
		return add_cgroup(log, id, path);
	}
	return 0;
}

static int write_cgroup_to_file_once(struct known_cgroup *known, struct trace_writer *writer,
				     u32 *number)
{
	const struct trace_cgroup cgroup = {.id = known->id, .path = known->path};
	int result = known->number ? 0 : trace_writer_cgroup(writer, &cgroup, &known->number);

	*number = known->number;
	return result;
}

int cgroup_log_write_and_number_by_id(struct cgroup_log *log, struct trace_writer *writer, u64 id,
				      u32 *number)
{
	int result = 0;

	*number = 0;
	if (!log->mount || !id)
		return 0;
	if (find_cgroup_by_id(log, id) == HASH_INDEX_NONE)
		result = add_cgroup_from_program_path(log, id);
	if (!result && find_cgroup_by_id(log, id) == HASH_INDEX_NONE && !log->is_walked)
		result = add_all_cgroups(log);
	result = result ?: add_cgroup_unless_known(log, id, "");
	return result
		       ?: write_cgroup_to_file_once(&log->known[find_cgroup_by_id(log, id)], writer,
						    number);
}

u64 cgroup_log_id_of_number(const struct cgroup_log *log, u32 number)
{
	for (u32 i = 0; number && i < log->count; i++)
		if (log->known[i].number == number)
			return log->known[i].id;
	return 0;
}

/* Adds a cgroup by the path that /proc shows for a task. The cgroup may be removed by now, and its
 * id may be known already, without a path. */
static int add_cgroup_by_path(struct cgroup_log *log, const char *path)
{
	char directory[2 * PATH_MAX];
	struct stat status;

	snprintf(directory, sizeof(directory), "%s%s", log->mount, path);
	if (stat(directory, &status))
		return add_cgroup(log, 0, path);
	return add_cgroup(
		log, find_cgroup_by_id(log, status.st_ino) == HASH_INDEX_NONE ? status.st_ino : 0,
		path);
}

int cgroup_log_write_and_number_by_path(struct cgroup_log *log, struct trace_writer *writer,
					const char *path, u32 *number)
{
	u32 index;
	int result;

	*number = 0;
	if (!log->mount)
		return 0;
	result = find_cgroup_by_path(log, path) == HASH_INDEX_NONE ? add_cgroup_by_path(log, path)
								   : 0;
	index = find_cgroup_by_path(log, path);
	if (result || index == HASH_INDEX_NONE)
		return result;
	return write_cgroup_to_file_once(&log->known[index], writer, number);
}
