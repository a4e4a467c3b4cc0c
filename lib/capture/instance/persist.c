/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/instance/persist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/instance/files.h"
#include "capture/instance/metadata.h"
#include "capture/instance/running_code.h"
#include "capture/load/skeleton.h"
#include "error.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/symbolizer/symbolizers.h"

#define TABLES_MS 1000

/* The BPF file system does not allow dots in names. */
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

static int pin_maps(const struct loaded *loaded, int metadata, struct folder *folder)
{
	char pin[PIN_BYTES];
	struct bpf_map *map;
	int result = pin_fd(folder, metadata, PIN_METADATA);

	for (u32 i = 0; i < TABLE_ROLES && !result; i++) {
		pin_of_table(i, pin);
		if (loaded->tables[i].fd >= 0)
			result = pin_fd(folder, loaded->tables[i].fd, pin);
	}
	bpf_object__for_each_map(map, loaded_programs(loaded)->obj)
	{
		pin_of_map(bpf_map__name(map), pin);
		result = result ?: pin_fd(folder, bpf_map__fd(map), pin);
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
			pin_of_program(number, bpf_program__name(set->loaded[i].program), pin);
			result = pin_fd(folder, set->loaded[i].fd, pin);
		}
	}
	return result;
}

/* Pins the links of a list. The list has perf events, too, which their links hold. */
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
		result = pin_fd(folder, links->fds[i], pin);
	}
	return result;
}

int persist(struct loaded *loaded, struct folder *folder, const struct persist_options *options,
	    struct stackmap_error *files_refusal, struct stackmap_error *error)
{
	const struct kernel_files *kernel_files = symbolizers_kernel_files(options->symbolizers);
	bool address_shown = kernel_image_shown(kernel_files);
	struct files_options files = {
		.folder = folder_path(folder),
		.group = options->group,
		.kernel_files = kernel_files,
		.hides_addresses = !address_shown,
	};
	int metadata = metadata_write(loaded->sources, address_shown, options->command_line, error);
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
	result = folder_commit(folder, options->group, error);
	if (!result)
		running_code_tabulate(loaded, options->symbolizers, options->pids, TABLES_MS);
	if (symbolizers_script_loop_tables(options->symbolizers))
		loaded_forget_rules(loaded);
	return result;
}
