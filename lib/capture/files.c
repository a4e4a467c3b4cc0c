/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The object is loaded over the maps of the instance, each program linked to the array that it
 * iterates, each link pinned under the name of its file. Then everything here is let go. */
#include "capture/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/instance.h"
#include "capture/proc_tasks.h"
#include "capture/skeleton.h"
#include "error.h"
#include "file_reading.h"
#include "files.skel.h"
#include "trace/source_name.h"

/* So much of the pool is shown for one element, whatever it holds: at most 64 user frames, whose
 * lines are below 300 bytes, or 128 of the kernel; 26 kilobytes are printed at least. */
#define POOL_WORDS_AN_ELEMENT 64
#define SLOTS_AN_ELEMENT 2048
#define EVENTS_AN_ELEMENT 64
#define ELEMENTS_MIN 64
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

/* What has the same name in the instance is that. */
static int lend_maps(struct files_bpf *files, const struct bpf_object *instance)
{
	struct bpf_map *map;
	int result = 0;

	bpf_object__for_each_map(map, files->obj)
	{
		int fd = bpf_object__find_map_fd_by_name(instance, bpf_map__name(map));

		if (fd >= 0 && !result)
			result = bpf_map__reuse_fd(map, fd);
	}
	return result;
}

static int size_maps(struct files_bpf *files, const struct capture *capture)
{
	const struct source_list *sources = capture->sources;
	u32 cpus = capture->plan.config.cpus;
	int result = bpf_map__set_max_entries(files->maps.elements, element_count(&capture->plan));

	result = result ?: bpf_map__set_value_size(files->maps.readings, READING_BYTES(cpus));
	result = result ?: bpf_map__set_max_entries(files->maps.source_names, sources->count);
	return result
		       ?: bpf_map__set_value_size(files->maps.source_names,
						  longest_name(sources) + 1);
}

static int configure(struct files_bpf *files, const struct capture *capture,
		     const struct files_options *options)
{
	const struct plan *plan = &capture->plan;

	memcpy(&files->rodata->config, &plan->config, sizeof(plan->config));
	memcpy(&files->rodata->geometry, &plan->geometry, sizeof(plan->geometry));
	files->rodata->hides_addresses = options->hides_addresses;
	return size_maps(files, capture);
}

static int name_sources(const struct files_bpf *files, const struct source_list *sources)
{
	u32 kind, bytes = bpf_map__value_size(files->maps.source_names);
	char *name = calloc(1, bytes);
	int result = name ? 0 : -ENOMEM;

	for (kind = 0; kind < sources->count && !result; kind++) {
		snprintf(name, bytes, "%s", trace_source_short_name(sources->sources[kind].name));
		result = bpf_map_update_elem(bpf_map__fd(files->maps.source_names), &kind, name,
					     BPF_ANY);
	}
	free(name);
	return result;
}

/* What the hooks heard of since they are attached is newer. */
static int name_task(void *arg, u32 tgid, u32 tid)
{
	const struct bpf_map *names = arg;
	char comm[TASK_COMM_BYTES];

	if (proc_task_comm(tgid, tid, comm))
		bpf_map_update_elem(bpf_map__fd(names), &tid, comm, BPF_NOEXIST);
	return 0;
}

static void name_tasks(const struct files_bpf *files)
{
	static const char idle[TASK_COMM_BYTES] = "swapper";
	u32 tid = 0;

	bpf_map_update_elem(bpf_map__fd(files->maps.task_names), &tid, idle, BPF_ANY);
	proc_tasks_each(name_task, files->maps.task_names);
}

static int set_access(const char *path, gid_t group)
{
	if (group == FILES_NO_GROUP)
		return chmod(path, 0400) ? -errno : 0;
	if (chown(path, -1, group) || chmod(path, 0440))
		return -errno;
	return 0;
}

/* The file has the name of its program, without "show_". */
static int pin_file(const struct bpf_program *program, int elements,
		    const struct files_options *options)
{
	union bpf_iter_link_info info = {.map.map_fd = elements};
	LIBBPF_OPTS(bpf_iter_attach_opts, iterated, .link_info = &info,
		    .link_info_len = sizeof(info));
	const char *name = strchr(bpf_program__name(program), '_') + 1;
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
	struct bpf_program *program;
	int result = 0;

	bpf_object__for_each_program(program, files->obj) if (!result) result =
		pin_file(program, bpf_map__fd(files->maps.elements), options);
	return result;
}

int files_create(struct capture *capture, const struct files_options *options,
		 struct stackmap_error *error)
{
	struct files_bpf *files = files_bpf__open();
	int result = files ? configure(files, capture, options) : -errno;

	result = result ?: lend_maps(files, capture_programs(capture)->obj);
	result = result ?: files_bpf__load(files);
	result = result ?: name_sources(files, capture->sources);
	if (!result)
		name_tasks(files);
	result = result ?: pin_files(files, options);
	files_bpf__destroy(files);
	return result ? error_set(error, -result, "files in %s: %s", options->folder,
				  strerror(-result))
		      : 0;
}
