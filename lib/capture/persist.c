/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pinning. */
#include "capture/persist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/about.h"
#include "capture/files.h"
#include "capture/instance.h"
#include "capture/load/skeleton.h"
#include "capture/naming.h"
#include "error.h"

/* The BPF file system wants no dots. */
void pin_of_map(const char *map, char *pin)
{
	snprintf(pin, PIN_BYTES, "map_%s", map);
	for (; *pin; pin++)
		if (*pin == '.')
			*pin = '_';
}

void pin_of_program(u32 set, const char *program, char *pin)
{
	bool serves_events = !strncmp(program, "on_", 3);

	snprintf(pin, PIN_BYTES, "%s%u_%s", serves_events ? PIN_EVENTS : "program_", set, program);
}

void pin_of_table(u32 table, char *pin)
{
	snprintf(pin, PIN_BYTES, "map_table_%u", table);
}

static int pin_fd(struct folder *folder, int fd, const char *pin)
{
	return bpf_obj_pin(fd, folder_pin_path(folder, pin)) ? -errno : 0;
}

static int pin_tables(const struct capture *capture, struct folder *folder)
{
	char pin[PIN_BYTES];
	u32 i;
	int result = 0;

	for (i = 0; i < TABLE_ROLES && !result; i++) {
		int fd = capture->generations.tables[i].fd;

		pin_of_table(i, pin);
		result = fd < 0 ? 0 : pin_fd(folder, fd, pin);
	}
	return result;
}

static int pin_maps(const struct capture *capture, struct folder *folder)
{
	struct bpf_map *map;
	int result = pin_tables(capture, folder) ?: pin_fd(folder, capture->about_fd, PIN_ABOUT);

	bpf_object__for_each_map(map, capture_programs(capture)->obj)
	{
		char pin[PIN_BYTES];

		pin_of_map(bpf_map__name(map), pin);
		result = result ?: pin_fd(folder, bpf_map__fd(map), pin);
	}
	return result;
}

static int pin_set(const struct program_set *set, u32 number, struct folder *folder)
{
	struct bpf_program *program;
	int result = 0;

	bpf_object__for_each_program(program, set->object->obj)
	{
		int fd = bpf_program__fd(program);
		char pin[PIN_BYTES];

		pin_of_program(number, bpf_program__name(program), pin);
		if (fd >= 0)
			result = result ?: pin_fd(folder, fd, pin);
	}
	return result;
}

static int pin_programs(const struct capture *capture, struct folder *folder)
{
	u32 i;
	int result = 0;

	for (i = 0; i < capture->attachment.set_count && !result; i++)
		result = pin_set(&capture->attachment.sets[i], i, folder);
	return result;
}

/* The list has perf events, too, which their links hold. */
static bool is_link(int fd)
{
	struct bpf_link_info info = {};
	u32 bytes = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &bytes);
}

static int pin_links(const struct link_list *links, u32 *number, struct folder *folder)
{
	char pin[PIN_BYTES];
	u32 i;
	int result = 0;

	for (i = 0; i < links->count && !result; i++) {
		if (!is_link(links->fds[i]))
			continue;
		snprintf(pin, sizeof(pin), "link_%u", (*number)++);
		result = pin_fd(folder, links->fds[i], pin);
	}
	return result;
}

static int pin_all(const struct capture *capture, struct folder *folder)
{
	u32 number = 0;

	return pin_maps(capture, folder)
		       ?: pin_programs(capture, folder)
		       ?: pin_links(&capture->attachment.task_links, &number, folder)
		       ?: pin_links(&capture->attachment.links, &number, folder);
}

int capture_persist(struct capture *capture, struct folder *folder,
		    const struct persist_options *options, struct stackmap_error *error)
{
	struct files_options files = {
		.folder = folder_path(folder),
		.group = options->group,
		.hides_addresses = !capture_addresses_shown(capture),
	};
	int result = about_write(capture, options->command_line, error);

	if (result)
		return result;
	result = pin_all(capture, folder);
	if (result)
		return error_set(error, -result, "%s: it cannot be kept in %s: %s",
				 folder_name(folder), folder_path(folder), strerror(-result));
	return files_create(capture, &files, error) ?: folder_commit(folder, options->group, error);
}
