/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

#include "capture/bpffs/engine_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/bpffs/folder.h"
#include "capture/bpffs/root.h"
#include "deferral.h"

#define TEXT_OF(number) #number
#define FOLDER_NAME(version) "_engine-" TEXT_OF(version)
#define FOLDER FOLDER_NAME(ENGINE_VERSION)
#define PATH_BYTES (sizeof(ROOT) + 1 + NAME_MAX)

static const char *const shared[] = {
	"engine_state",	  "engine_tasks",   "file_tables", "mapping_numbers",
	"mappings",	  "moved_code",	    "rules",	   "script_ids",
	"script_numbers", "script_records", "unwinders",
};
#define SHARED_COUNT (sizeof(shared) / sizeof(shared[0]))

struct engine {
	int root; /* descriptor that holds the root's lock, from engine_open() to engine_publish();
		     -1 = not locked */
	int folder; /* descriptor of the engine's folder, with a shared lock; -1 = the engine is
		       private */
	bool fresh; /* true: this process is the first user of the engine and has to pin the
		       engine's maps */
	char path[PATH_BYTES];
};

static void unlock_root(struct engine *engine)
{
	root_remove_if_empty_and_unlock(engine->root);
	engine->root = -1;
}

static void make_engine_private(struct engine *engine)
{
	if (engine->folder >= 0)
		close(engine->folder);
	engine->folder = -1;
	engine->fresh = false;
	unlock_root(engine);
}

/* True if no process uses the engine of this folder, and no instance without a process exists. */
static bool lock_engine_if_unused(int folder)
{
	return !root_has_instances() && !flock(folder, LOCK_EX | LOCK_NB);
}

static void remove_engine_if_unused(const char *name)
{
	char path[PATH_BYTES];
	int folder;

	snprintf(path, sizeof(path), ROOT "/%s", name);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	if (lock_engine_if_unused(folder)) {
		folder_remove_files(path);
		rmdir(path);
	}
	close(folder);
}

/* Removes all engines without users, also engines of PID namespaces, whose users may have been
 * killed together with the namespace. The root must be locked. */
static void remove_unused_engines(void)
{
	DIR *root = opendir(ROOT);
	struct dirent *entry;

	while (root && (entry = readdir(root)))
		if (!strncmp(entry->d_name, FOLDER, strlen(FOLDER)))
			remove_engine_if_unused(entry->d_name);
	if (root)
		closedir(root);
	folder_remove_abandoned();
}

static void open_engine_folder(struct engine *engine)
{
	if (mkdir(engine->path, 0700) && errno != EEXIST)
		return;
	engine->folder = open(engine->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (engine->folder < 0)
		return;
	engine->fresh = lock_engine_if_unused(engine->folder);
	if (engine->fresh)
		folder_remove_files(engine->path);
	flock(engine->folder, LOCK_SH);
}

int engine_open(u32 pid_namespace, struct engine **out)
{
	struct engine *engine = malloc(sizeof(*engine));

	if (!engine)
		return -ENOMEM;
	*engine = (struct engine){.root = -1, .folder = -1};
	/* The maps have ids of tasks, so each PID namespace has an engine of its own. */
	if (pid_namespace)
		snprintf(engine->path, sizeof(engine->path), ROOT "/" FOLDER "-pid-%u",
			 pid_namespace);
	else
		snprintf(engine->path, sizeof(engine->path), ROOT "/" FOLDER);
	engine->root = root_make_and_lock(ROOT_MS_OPTIONAL);
	if (engine->root >= 0)
		open_engine_folder(engine);
	if (engine->folder < 0)
		make_engine_private(engine);
	*out = engine;
	return 0;
}

static const char *format_pin_path(const struct engine *engine, char path[PATH_BYTES + 32],
				   const char *name)
{
	snprintf(path, PATH_BYTES + 32, "%s/%s", engine->path, name);
	return path;
}

static bool has_same_map_layout(const struct bpf_map *map, int fd)
{
	struct bpf_map_info info = {};
	u32 bytes = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &bytes) && info.type == bpf_map__type(map) &&
	       info.key_size == bpf_map__key_size(map) &&
	       info.value_size == bpf_map__value_size(map) &&
	       info.max_entries == bpf_map__max_entries(map);
}

static void close_descriptors(const int fds[SHARED_COUNT])
{
	for (u32 i = 0; i < SHARED_COUNT; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Opens the pins of all shared maps. If a pin is missing, or its map has another layout, no pin is
 * opened.
 */
static bool open_all_pins(const struct engine *engine, const struct bpf_object *object,
			  int fds[SHARED_COUNT])
{
	bool all = true;
	char path[PATH_BYTES + 32];

	for (u32 i = 0; i < SHARED_COUNT; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, shared[i]);

		fds[i] = bpf_obj_get(format_pin_path(engine, path, shared[i]));
		all = all && map && fds[i] >= 0 && has_same_map_layout(map, fds[i]);
	}
	if (!all)
		close_descriptors(fds);
	return all;
}

int engine_use_maps_in_object(struct engine *engine, struct bpf_object *object)
{
	int fds[SHARED_COUNT], result = 0;

	if (engine->folder < 0 || engine->fresh)
		return 0;
	if (!open_all_pins(engine, object, fds)) {
		make_engine_private(engine);
		return 0;
	}
	for (u32 i = 0; i < SHARED_COUNT && !result; i++)
		result = bpf_map__reuse_fd(bpf_object__find_map_by_name(object, shared[i]), fds[i]);
	close_descriptors(fds);
	return result;
}

static bool pin_shared_maps(const struct engine *engine, const struct bpf_object *object)
{
	char path[PATH_BYTES + 32];

	for (u32 i = 0; i < SHARED_COUNT; i++) {
		int fd = bpf_object__find_map_fd_by_name(object, shared[i]);

		if (fd < 0 || bpf_obj_pin(fd, format_pin_path(engine, path, shared[i])))
			return false;
	}
	return true;
}

/* If a map cannot be pinned, all pins are removed, so that later users find a folder without an
 * engine. */
void engine_publish(struct engine *engine, const struct bpf_object *object)
{
	if (engine->fresh && !pin_shared_maps(engine, object)) {
		folder_remove_files(engine->path);
		make_engine_private(engine);
	}
	unlock_root(engine);
}

void engine_close(struct engine **engine)
{
	struct engine *gone = *engine;

	if (!gone)
		return;
	if (gone->folder >= 0 && gone->root < 0)
		gone->root = root_make_and_lock(ROOT_MS_ENDING);
	if (gone->folder >= 0)
		close(gone->folder);
	if (gone->folder >= 0 && gone->root >= 0)
		remove_unused_engines();
	unlock_root(gone);
	free(gone);
	*engine = NULL;
}

void engine_remove_unused(void)
{
	int root = root_make_and_lock(ROOT_MS_OPTIONAL);

	if (root < 0)
		return;
	remove_unused_engines();
	root_remove_if_empty_and_unlock(root);
}

bool engine_is_shared(const struct engine *engine)
{
	return engine->folder >= 0;
}

bool engine_shares_map(const char *map)
{
	for (u32 i = 0; i < SHARED_COUNT; i++)
		if (!strcmp(shared[i], map))
			return true;
	return false;
}
