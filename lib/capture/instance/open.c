/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The object is opened with the pinned maps in place of its own, and its programs are not loaded.
 * This process then reads and writes constants and variables of the programs in the same way as the
 * process that started the instance.
 */
#include "capture/instance/open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "capture/instance/persist.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/skeleton.h"
#include "error.h"

static int get_pin(struct folder *folder, const char *pin)
{
	int fd = bpf_obj_get(folder_pin_path(folder, pin));

	return fd < 0 ? -errno : fd;
}

/* libbpf keeps a descriptor of its own. */
static int use_pinned_map(struct bpf_map *map, struct folder *folder)
{
	char pin[PIN_BYTES];
	int fd, result;

	pin_of_map(bpf_map__name(map), pin);
	fd = get_pin(folder, pin);
	if (fd < 0)
		return fd;
	result = bpf_map__reuse_fd(map, fd);
	close(fd);
	return result;
}

static int use_pinned_maps(struct program_set *set, struct folder *folder)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int result = 0;

	bpf_object__for_each_program(program, set->object->obj)
		bpf_program__set_autoload(program, false);
	bpf_object__for_each_map(map, set->object->obj) result =
		result ?: use_pinned_map(map, folder);
	return result ?: program_set_load_object(set);
}

static int open_set(struct loaded *loaded, struct folder *folder)
{
	struct program_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	loaded->attachment.sets = set;
	loaded->attachment.set_count = 1;
	set->object = capture_bpf__open();
	return set->object ? use_pinned_maps(set, folder) : -errno;
}

/* Reads the plan that the programs were loaded with from their constants. */
static void read_plan(struct loaded *loaded)
{
	const struct capture_bpf__rodata *constants = loaded_programs(loaded)->rodata;
	struct plan *plan = &loaded->plan;

	memcpy(&plan->config, (const void *)&constants->config, sizeof(plan->config));
	memcpy(&plan->geometry, (const void *)&constants->geometry, sizeof(plan->geometry));
	memcpy(&plan->syscalls, (const void *)&constants->syscalls, sizeof(plan->syscalls));
	loaded->foreign = plan->config.pids.inode != pid_namespace_inode();
}

static int open_tables(struct loaded *loaded, struct folder *folder)
{
	int result = 0;

	for (u32 i = 0; i < TABLE_ROLES && !result; i++) {
		char pin[PIN_BYTES];
		int fd;

		pin_of_table(i, pin);
		fd = get_pin(folder, pin);
		if (fd != -ENOENT)
			result = fd < 0 ? fd : generations_add(loaded, fd);
	}
	return result;
}

struct open_ctx {
	struct loaded *loaded;
	struct folder *folder;
};

static int open_program(void *arg, const char *pin)
{
	const struct open_ctx *ctx = arg;
	struct loaded *loaded = ctx->loaded;
	int fd;

	if (array_make_room(loaded->programs, loaded->program_count, loaded->program_room))
		return -ENOMEM;
	fd = get_pin(ctx->folder, pin);
	if (fd >= 0)
		loaded->programs[loaded->program_count++] = fd;
	return 0;
}

/* Opens the programs of events, whose misses are read even after the instance has ended. */
static int open_programs(struct loaded *loaded, struct folder *folder)
{
	struct open_ctx ctx = {.loaded = loaded, .folder = folder};
	char pin[PIN_BYTES];

	pin_of_program(0, "unwind_blocked", pin);
	if (!loaded->foreign)
		loaded->unwind_blocked_program = get_pin(folder, pin);
	return folder_pins(folder, PIN_EVENTS, open_program, &ctx);
}

static int read_metadata(struct loaded *loaded, struct folder *folder, struct metadata **out,
			 struct stackmap_error *error)
{
	int fd = get_pin(folder, PIN_METADATA), result;

	if (fd < 0)
		return error_set_errno(error, -fd, folder_name(folder));
	result = metadata_read(fd, out, error);
	close(fd);
	if (!result)
		loaded->sources = loaded->attachment.sources = &(*out)->sources;
	return result;
}

int instance_open(struct loaded *loaded, struct folder *folder, struct metadata **metadata,
		  struct stackmap_error *error)
{
	int result = read_metadata(loaded, folder, metadata, error);

	if (result)
		return result;
	loaded->opened = loaded->running = true;
	result = open_set(loaded, folder);
	if (!result)
		read_plan(loaded);
	result = result ?: open_tables(loaded, folder);
	result = result ?: open_programs(loaded, folder);
	result = result ?: loaded_share(loaded);
	return result ? instance_open_failed(folder, result, error) : 0;
}

int instance_open_failed(struct folder *folder, int result, struct stackmap_error *error)
{
	if (result == -EPERM)
		return error_set(error, EPERM,
				 "%s: the kernel refuses it to this user; run as root, or with "
				 "CAP_BPF",
				 folder_name(folder));
	return error_set_errno(error, -result, folder_name(folder));
}
