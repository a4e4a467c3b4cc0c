/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/instance/persist.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "capture/bpffs/engine_folder.h"
#include "capture/instance/files.h"
#include "capture/instance/metadata.h"
#include "capture/instance/running_code.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/skeleton.h"
#include "error.h"
#include "scalar.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/symbolizer/symbolizers.h"

#define TABLES_MS 1000

/* The BPF file system does not allow dots in names. */
void pin_name_of_map(const char *map, char *pin)
{
	snprintf(pin, PIN_BYTES, "map_%s", map);
	for (; *pin; pin++)
		if (*pin == '.')
			*pin = '_';
}

void pin_name_of_program(u32 set, const char *program, char *pin)
{
	bool serves_events = !strncmp(program, "on_", 3);

	snprintf(pin, PIN_BYTES, "%s%u_%s", serves_events ? PIN_EVENTS : "program_", set, program);
}

void pin_name_of_table(u32 table, char *pin)
{
	snprintf(pin, PIN_BYTES, "map_table_%u", table);
}

static int pin_descriptor(struct folder *folder, int fd, const char *pin)
{
	return bpf_obj_pin(fd, folder_pin_path(folder, pin)) ? -errno : 0;
}

static int pin_maps(const struct loaded *loaded, int metadata, struct folder *folder)
{
	char pin[PIN_BYTES];
	struct bpf_map *map;
	int result = pin_descriptor(folder, metadata, PIN_METADATA);

	for (u32 i = 0; i < TABLE_ROLES && !result; i++) {
		pin_name_of_table(i, pin);
		if (loaded->tables[i].fd >= 0)
			result = pin_descriptor(folder, loaded->tables[i].fd, pin);
	}
	bpf_object__for_each_map(map, loaded_programs(loaded)->obj)
	{
		pin_name_of_map(bpf_map__name(map), pin);
		result = result ?: pin_descriptor(folder, bpf_map__fd(map), pin);
	}
	return result;
}

static int pin_programs(const struct loaded *loaded, struct folder *folder)
{
	char pin[PIN_BYTES];
	int result = 0;

	for (u32 number = 0; number < loaded->attachment.set_count; number++) {
		const struct program_set *set = &loaded->attachment.sets[number];

		for (u32 i = 0; i < set->loaded_count && !result; i++) {
			pin_name_of_program(number, bpf_program__name(set->loaded[i].program), pin);
			result = pin_descriptor(folder, set->loaded[i].fd, pin);
		}
	}
	return result;
}

/* Pins the BPF links of a list. The list has perf events, too, which are not pinned: their links
 * keep them alive. */
static int pin_links(const struct link_list *links, u32 *number, struct folder *folder)
{
	char pin[PIN_BYTES];
	int result = 0;

	for (u32 i = 0; i < links->count && !result; i++) {
		struct bpf_link_info info = {};
		u32 bytes = sizeof(info);

		if (bpf_obj_get_info_by_fd(links->fds[i], &info, &bytes))
			continue;
		snprintf(pin, sizeof(pin), "link_%u", (*number)++);
		result = pin_descriptor(folder, links->fds[i], pin);
	}
	return result;
}

int instance_persist(struct loaded *loaded, struct folder *folder,
		     const struct persist_options *options, struct stackmap_error *files_refusal,
		     struct stackmap_error *error)
{
	const struct kernel_files *kernel_files = symbolizers_kernel_files(options->symbolizers);
	bool address_shown = are_kernel_addresses_shown(kernel_files);
	struct files_options files = {
		.folder = folder_path(folder),
		.group = options->group,
		.kernel_files = kernel_files,
		.hides_addresses = !address_shown,
	};
	int metadata = metadata_write_to_new_map(loaded->sources, address_shown,
						 options->command_line, error);
	u32 links = 0;
	int result;

	if (metadata < 0)
		return metadata;
	result = pin_maps(loaded, metadata, folder)
			 ?: pin_programs(loaded, folder)
			 ?: pin_links(&loaded->attachment.task_links, &links, folder)
			 ?: pin_links(&loaded->attachment.links, &links, folder);
	close(metadata);
	if (result)
		return error_set(error, -result, "%s: it cannot be kept in %s: %s",
				 folder_name(folder), folder_path(folder), strerror(-result));
	result = files_create(loaded, &files, files_refusal);
	if (result == -ENOMEM)
		return error_set(error, ENOMEM, "files in %s: %s", files.folder, strerror(ENOMEM));
	if (!result)
		files_refusal->message[0] = 0;
	result = folder_publish_with_group(folder, options->group, error);
	if (!result)
		running_code_await_tables(loaded, options->symbolizers, options->pids, TABLES_MS);
	if (symbolizers_script_loop_tables(options->symbolizers))
		loaded_forget_rules(loaded);
	return result;
}

/*
 * Opening an instance: the BPF object is opened with the pinned maps in place of its own, and its
 * programs are not loaded. This process then reads and writes constants and variables of the
 * programs in the same way as the process that started the instance.
 */

static int open_pin(struct folder *folder, const char *pin)
{
	int fd = bpf_obj_get(folder_pin_path(folder, pin));

	return fd < 0 ? -errno : fd;
}

/* Makes the object use a pinned map in place of its own map. libbpf duplicates the descriptor of
 * the pin, so the descriptor is closed here. */
static int use_pinned_map(struct bpf_map *map, struct folder *folder)
{
	char pin[PIN_BYTES];
	int fd, result;

	pin_name_of_map(bpf_map__name(map), pin);
	fd = open_pin(folder, pin);
	if (fd < 0)
		return fd;
	result = bpf_map__reuse_fd(map, fd);
	close(fd);
	return result;
}

static int load_object_with_pinned_maps(struct program_set *set, struct folder *folder)
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

static int open_pinned_tables(struct loaded *loaded, struct folder *folder)
{
	int result = 0;

	for (u32 i = 0; i < TABLE_ROLES && !result; i++) {
		char pin[PIN_BYTES];
		int fd;

		pin_name_of_table(i, pin);
		fd = open_pin(folder, pin);
		if (fd != -ENOENT)
			result = fd < 0 ? fd : generations_add_table(loaded, fd);
	}
	return result;
}

struct open_ctx {
	struct loaded *loaded;
	struct folder *folder;
};

static int open_event_program(void *arg, const char *pin)
{
	const struct open_ctx *ctx = arg;
	struct loaded *loaded = ctx->loaded;
	int fd;

	if (array_make_room(loaded->programs, loaded->program_count, loaded->program_room))
		return -ENOMEM;
	fd = open_pin(ctx->folder, pin);
	if (fd >= 0)
		loaded->programs[loaded->program_count++] = fd;
	return 0;
}

static int read_metadata(struct loaded *loaded, struct folder *folder, struct metadata **out,
			 struct stackmap_error *error)
{
	int fd = open_pin(folder, PIN_METADATA), result;

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
	struct program_set *set;

	if (result)
		return result;
	loaded->opened = loaded->running = true;
	set = calloc(1, sizeof(*set));
	if (!set)
		return instance_set_open_error(folder, -ENOMEM, error);
	loaded->attachment.sets = set;
	loaded->attachment.set_count = 1;
	set->object = capture_bpf__open();
	result = set->object ? load_object_with_pinned_maps(set, folder) : -errno;
	/* The constants of the programs have the plan that the programs were loaded with. */
	if (!result) {
		const struct capture_bpf__rodata *constants = set->object->rodata;
		struct plan *plan = &loaded->plan;

		memcpy(&plan->config, (const void *)&constants->config, sizeof(plan->config));
		memcpy(&plan->geometry, (const void *)&constants->geometry, sizeof(plan->geometry));
		memcpy(&plan->syscalls, (const void *)&constants->syscalls, sizeof(plan->syscalls));
		loaded->foreign = plan->config.pids.inode != pid_namespace_inode();
	}
	result = result ?: open_pinned_tables(loaded, folder);
	if (!result) {
		struct open_ctx ctx = {.loaded = loaded, .folder = folder};
		char pin[PIN_BYTES];

		pin_name_of_program(0, "unwind_blocked", pin);
		if (!loaded->foreign)
			loaded->unwind_blocked_program = open_pin(folder, pin);
		/* The counts of skipped runs of event programs are read even after the instance has
		 * ended, so these programs are opened.
		 */
		result = folder_each_pin(folder, PIN_EVENTS, open_event_program, &ctx);
	}
	result = result ?: loaded_map_memory(loaded);
	return result ? instance_set_open_error(folder, result, error) : 0;
}

int instance_set_open_error(struct folder *folder, int result, struct stackmap_error *error)
{
	if (result == -EPERM)
		return error_set(error, EPERM,
				 "%s: the kernel refuses it to this user; run as root, or with "
				 "CAP_BPF",
				 folder_name(folder));
	return error_set_errno(error, -result, folder_name(folder));
}

/* The kernel detaches a link some time after its last pin was removed. instance_stop() waits until
 * no link with the id of a pinned link exists. */

#define WAIT_TRIES 500
#define WAIT_PAUSE_MS 2

struct link_ids {
	struct folder *folder;
	u32 *ids;
	u32 count, room;
};

/* Adds the id of a pinned link to the list that instance_stop() waits for. If the id cannot be
 * read, the link is left out. */
static int add_link_id(void *arg, const char *pin)
{
	struct link_ids *links = arg;
	struct bpf_link_info info = {};
	u32 bytes = sizeof(info);
	int fd = bpf_obj_get(folder_pin_path(links->folder, pin)), err;

	if (fd < 0)
		return 0;
	err = array_make_room(links->ids, links->count, links->room);
	if (!err && !bpf_obj_get_info_by_fd(fd, &info, &bytes))
		links->ids[links->count++] = info.id;
	close(fd);
	return err;
}

static void wait_until_links_are_gone(const struct link_ids *links)
{
	const struct timespec pause = {.tv_nsec = WAIT_PAUSE_MS * 1000000L};
	u32 next = 0;

	for (int try = 0; try < WAIT_TRIES && next < links->count;) {
		int fd = bpf_link_get_fd_by_id(links->ids[next]);

		if (fd < 0) {
			next++;
			continue;
		}
		close(fd);
		nanosleep(&pause, NULL);
		try++;
	}
}

int instance_stop(struct folder *folder, struct stackmap_error *error)
{
	struct link_ids links = {.folder = folder};
	int result;

	folder_each_pin(folder, "link_", add_link_id, &links);
	result = folder_remove(folder, error);
	if (!result)
		wait_until_links_are_gone(&links);
	free(links.ids);
	engine_remove_unused();
	return result;
}
