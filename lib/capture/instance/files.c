/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The object is loaded over the maps of the instance, each program linked to the array that it
 * iterates, each link pinned under the name of its file. Then everything here is let go. The
 * programs are given room, and names that they cannot find out. */
#include "capture/instance/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/feature/kernel_types.h"
#include "capture/instance/kernel_mappings.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/proc_tasks.h"
#include "capture/load/skeleton.h"
#include "error.h"
#include "file_reading.h"
#include "format/printable.h"
#include "task_name.h"
#include "trace/block/source_name.h"

#include "files.skel.h"

/* So much of the pool is shown for one element, whatever it holds: at most 64 user frames, whose
 * lines are below 300 bytes, or 128 of the kernel; 26 kilobytes are printed at least. */
#define POOL_WORDS_AN_ELEMENT 64
#define SLOTS_AN_ELEMENT 2048
#define EVENTS_AN_ELEMENT 64
#define ELEMENTS_MIN 1024   /* the longest mappings take half of that */
#define ELEMENTS_MAX 900000 /* the kernel gives up after a million that show nothing */

static u32 element_count(const struct plan *plan)
{
	const struct table_geometry *geometry = &plan->geometry;
	u64 for_stacks = geometry->pool_words / POOL_WORDS_AN_ELEMENT +
			 geometry->slot_mask / SLOTS_AN_ELEMENT;
	u64 for_events = (u64)plan->config.ring_slots * plan->config.cpus / EVENTS_AN_ELEMENT;
	u64 most = ELEMENTS_MIN + (for_stacks > for_events ? for_stacks : for_events);

	return most < ELEMENTS_MAX ? most : ELEMENTS_MAX;
}

static u32 longest_name(const struct source_list *sources)
{
	size_t longest = 0;

	for (u32 kind = 0; kind < sources->count; kind++) {
		size_t length = strlen(trace_source_short_name(sources->sources[kind].name));

		longest = length > longest ? length : longest;
	}
	return longest;
}

/* Before the object is loaded. */
static int set_sizes(struct files_bpf *files, const struct loaded *loaded,
		     const struct kernel_mappings *kernel)
{
	const struct source_list *sources = loaded->sources;
	u32 cpus = loaded->plan.config.cpus;
	int result = bpf_map__set_max_entries(files->maps.elements, element_count(&loaded->plan));

	files->rodata->kernel_mapping_count = kernel->count;
	result = result ?: bpf_map__set_max_entries(files->maps.kernel_mappings, kernel->count);
	result = result ?: bpf_map__set_value_size(files->maps.kernel_mappings, kernel->longest);
	result = result ?: bpf_map__set_value_size(files->maps.readings, READING_BYTES(cpus));
	result = result ?: bpf_map__set_max_entries(files->maps.source_names, sources->count);
	return result
		       ?: bpf_map__set_value_size(files->maps.source_names,
						  longest_name(sources) + 1);
}

/* Texts are shorter than the map's values. */
static int put_text(const struct bpf_map *map, u32 at, const char *text)
{
	u32 bytes = bpf_map__value_size(map);
	char *value = calloc(1, bytes);
	int result;

	if (!value)
		return -ENOMEM;
	snprintf(value, bytes, "%s", text);
	printable_make(value);
	result = bpf_map_update_elem(bpf_map__fd(map), &at, value, BPF_ANY);
	free(value);
	return result;
}

static int name_sources(const struct files_bpf *files, const struct source_list *sources)
{
	int result = 0;

	for (u32 kind = 0; kind < sources->count && !result; kind++)
		result = put_text(files->maps.source_names, kind,
				  trace_source_short_name(sources->sources[kind].name));
	return result;
}

static int name_kernel(const struct files_bpf *files, const struct kernel_mappings *kernel)
{
	const char *line = kernel->text;
	int result = 0;

	for (u32 i = 0; i < kernel->count && !result; i++, line += strlen(line) + 1)
		result = put_text(files->maps.kernel_mappings, i, line);
	return result;
}

/* What the hooks heard of since they are attached is newer. */
static int name_task(void *arg, u32 tgid, u32 tid)
{
	const struct bpf_map *names = arg;
	struct task_name name = {};
	char comm[TASK_COMM_BYTES];

	if (!proc_task_comm(tgid, tid, comm))
		return 0;
	memcpy(name.comm, comm, sizeof(comm));
	bpf_map_update_elem(bpf_map__fd(names), &tid, &name, BPF_NOEXIST);
	return 0;
}

static void name_no_task(const struct files_bpf *files, u32 tid, const char *comm)
{
	struct task_name name = {};

	strcpy((char *)name.comm, comm);
	bpf_map_update_elem(bpf_map__fd(files->maps.task_names), &tid, &name, BPF_ANY);
}

static void name_tasks(const struct files_bpf *files, const struct pid_namespace_id *pids)
{
	name_no_task(files, 0, pid_namespace_zero(pids));
	name_no_task(files, TID_INTERRUPT, TID_INTERRUPT_NAME);
	proc_tasks_each(name_task, files->maps.task_names);
}

/* After. */
static int fill(const struct files_bpf *files, const struct loaded *loaded,
		const struct kernel_mappings *kernel)
{
	name_tasks(files, &loaded->plan.config.pids);
	return name_sources(files, loaded->sources) ?: name_kernel(files, kernel);
}

/* What has the same name in the instance is that. */
static int lend_maps(struct files_bpf *files, const struct bpf_object *instance)
{
	struct bpf_map *map = NULL;
	int result = 0;

	while ((map = bpf_object__next_map(files->obj, map)) && !result) {
		int fd = bpf_object__find_map_fd_by_name(instance, bpf_map__name(map));

		if (fd >= 0)
			result = bpf_map__reuse_fd(map, fd);
	}
	return result;
}

static void set_constants(struct files_bpf *files, const struct loaded *loaded,
			  const struct files_options *options)
{
	const struct plan *plan = &loaded->plan;

	memcpy(&files->rodata->config, &plan->config, sizeof(plan->config));
	memcpy(&files->rodata->geometry, &plan->geometry, sizeof(plan->geometry));
	files->rodata->hides_addresses = options->hides_addresses;
}

static int load(struct files_bpf *files, struct loaded *loaded, const struct files_options *options,
		const struct kernel_mappings *kernel)
{
	int result;

	set_constants(files, loaded, options);
	result = set_sizes(files, loaded, kernel);
	result = result ?: lend_maps(files, loaded_programs(loaded)->obj);
	result = result ?: files_bpf__load(files);
	return result ?: fill(files, loaded, kernel);
}

static int set_access(const char *path, gid_t group)
{
	if (group == FILES_NO_GROUP)
		return chmod(path, 0400) ? -errno : 0;
	if (chown(path, -1, group) || chmod(path, 0440))
		return -errno;
	return 0;
}

#define SHOWS "show_"

/* The file has the name of its program, without "show_". */
static int pin_file(const struct bpf_program *program, int elements,
		    const struct files_options *options)
{
	union bpf_iter_link_info info = {.map.map_fd = elements};
	LIBBPF_OPTS(bpf_iter_attach_opts, iterated, .link_info = &info,
		    .link_info_len = sizeof(info));
	const char *name = bpf_program__name(program) + strlen(SHOWS);
	struct bpf_link *link = bpf_program__attach_iter(program, &iterated);
	char path[4096];
	int result = libbpf_get_error(link);

	if (result)
		return result;
	snprintf(path, sizeof(path), "%s/%s", options->folder, name);
	result = bpf_obj_pin(bpf_link__fd(link), path) ? -errno : set_access(path, options->group);
	bpf_link__destroy(link);
	return result;
}

static int pin_files(const struct files_bpf *files, const struct files_options *options)
{
	struct bpf_program *program = NULL;
	int result = 0;

	while ((program = bpf_object__next_program(files->obj, program)) && !result)
		result = pin_file(program, bpf_map__fd(files->maps.elements), options);
	return result;
}

static int open_object(struct files_bpf **files, struct kernel_types *types)
{
	LIBBPF_OPTS(bpf_object_open_opts, open_options);
	size_t bytes;
	const void *object = files_bpf__elf_bytes(&bytes);

	kernel_types_make(object, bytes, types);
	open_options.btf_custom_path = kernel_types_path(types);
	*files = files_bpf__open_opts(&open_options);
	return *files ? 0 : -errno;
}

int files_create(struct loaded *loaded, const struct files_options *options,
		 struct stackmap_error *error)
{
	struct kernel_mappings kernel;
	struct kernel_types types;
	struct files_bpf *files = NULL;
	int result = kernel_mappings_read(options->kernel_files, options->hides_addresses, &kernel,
					  error);

	if (result)
		return result;
	result = open_object(&files, &types);
	result = result ?: load(files, loaded, options, &kernel);
	kernel_types_clear(&types);
	result = result ?: pin_files(files, options);
	files_bpf__destroy(files);
	kernel_mappings_clear(&kernel);
	return result ? error_set(error, -result, "files in %s: %s", options->folder,
				  strerror(-result))
		      : 0;
}
