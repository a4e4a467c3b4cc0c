/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The folder, its locks, its pins. */
#include "capture/engine_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/home.h"
#include "engine.h"

#define TEXT_OF(number) #number
#define FOLDER_NAME(version) "_engine-" TEXT_OF(version)
#define FOLDER HOME "/" FOLDER_NAME(ENGINE_VERSION)

static const char *const shared[] = {
	"engine_state", "engine_tasks", "mapping_numbers", "mappings", "rules", "unwinders",
};
#define SHARED_COUNT (sizeof(shared) / sizeof(shared[0]))

struct engine {
	int home;   /* locked from open to publish; -1: not */
	int folder; /* share-locked; -1: the engine is private */
	bool fresh; /* we are the first: its maps are to be pinned */
};

static void unlock_home(struct engine *engine)
{
	home_unlock(engine->home);
	engine->home = -1;
}

static void become_private(struct engine *engine)
{
	if (engine->folder >= 0)
		close(engine->folder);
	engine->folder = -1;
	engine->fresh = false;
	unlock_home(engine);
}

/* Whatever is in it: nobody uses it. */
static void remove_pins(const struct engine *engine)
{
	DIR *folder = opendir(FOLDER);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			unlinkat(engine->folder, entry->d_name, 0);
	if (folder)
		closedir(folder);
}

/* Processes hold its lock; instances without a process have a folder. */
static bool is_alone(const struct engine *engine)
{
	return !home_has_instances() && !flock(engine->folder, LOCK_EX | LOCK_NB);
}

static void open_folder(struct engine *engine)
{
	if (mkdir(FOLDER, 0700) && errno != EEXIST)
		return;
	engine->folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (engine->folder < 0)
		return;
	engine->fresh = is_alone(engine);
	if (engine->fresh)
		remove_pins(engine);
	flock(engine->folder, LOCK_SH);
}

int engine_open(struct engine **out)
{
	struct engine *engine = malloc(sizeof(*engine));

	if (!engine)
		return -ENOMEM;
	*engine = (struct engine){.home = -1, .folder = -1};
	engine->home = home_lock(HOME_SECONDS_OPTIONAL);
	if (engine->home >= 0)
		open_folder(engine);
	if (engine->folder < 0)
		become_private(engine);
	*out = engine;
	return 0;
}

static const char *pin_path(char *path, size_t bytes, const char *name)
{
	snprintf(path, bytes, FOLDER "/%s", name);
	return path;
}

static bool fits(const struct bpf_map *map, int fd)
{
	struct bpf_map_info info = {};
	u32 bytes = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &bytes) && info.type == bpf_map__type(map) &&
	       info.key_size == bpf_map__key_size(map) &&
	       info.value_size == bpf_map__value_size(map) &&
	       info.max_entries == bpf_map__max_entries(map);
}

static void close_all(const int fds[SHARED_COUNT])
{
	for (u32 i = 0; i < SHARED_COUNT; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* All of them, or none. */
static bool get_pins(const struct bpf_object *object, int fds[SHARED_COUNT])
{
	bool all = true;
	char path[sizeof(FOLDER) + 32];

	for (u32 i = 0; i < SHARED_COUNT; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, shared[i]);

		fds[i] = bpf_obj_get(pin_path(path, sizeof(path), shared[i]));
		all = all && map && fds[i] >= 0 && fits(map, fds[i]);
	}
	if (!all)
		close_all(fds);
	return all;
}

int engine_lend(struct engine *engine, struct bpf_object *object)
{
	int fds[SHARED_COUNT], result = 0;

	if (engine->folder < 0 || engine->fresh)
		return 0;
	if (!get_pins(object, fds)) {
		become_private(engine);
		return 0;
	}
	for (u32 i = 0; i < SHARED_COUNT && !result; i++)
		result = bpf_map__reuse_fd(bpf_object__find_map_by_name(object, shared[i]), fds[i]);
	close_all(fds);
	return result;
}

static bool pin_all(const struct bpf_object *object)
{
	char path[sizeof(FOLDER) + 32];

	for (u32 i = 0; i < SHARED_COUNT; i++) {
		int fd = bpf_object__find_map_fd_by_name(object, shared[i]);

		if (fd < 0 || bpf_obj_pin(fd, pin_path(path, sizeof(path), shared[i])))
			return false;
	}
	return true;
}

/* Without all its pins the folder is no engine: those who come find that they are alone. */
void engine_publish(struct engine *engine, const struct bpf_object *object)
{
	if (engine->fresh && !pin_all(object)) {
		remove_pins(engine);
		become_private(engine);
	}
	unlock_home(engine);
}

void engine_close(struct engine **engine)
{
	struct engine *gone = *engine;

	if (!gone)
		return;
	if (gone->folder >= 0 && gone->home < 0)
		gone->home = home_lock(HOME_SECONDS_OPTIONAL);
	if (gone->folder >= 0 && gone->home >= 0 && is_alone(gone)) {
		remove_pins(gone);
		rmdir(FOLDER);
	}
	become_private(gone);
	free(gone);
	*engine = NULL;
}

void engine_sweep(void)
{
	struct engine *engine = malloc(sizeof(*engine));

	if (!engine)
		return;
	*engine = (struct engine){.home = home_lock(HOME_SECONDS_OPTIONAL), .folder = -1};
	if (engine->home >= 0)
		engine->folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	engine_close(&engine);
}

bool engine_is_shared(const struct engine *engine)
{
	return engine->folder >= 0;
}

bool engine_shares(const char *map)
{
	for (u32 i = 0; i < SHARED_COUNT; i++)
		if (!strcmp(shared[i], map))
			return true;
	return false;
}
