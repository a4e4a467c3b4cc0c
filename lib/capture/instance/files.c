/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF object is loaded with the maps of the instance, each program is linked to an iterator
 * (bpf/show/reading.h), and each link is pinned under the name of its file. Then the object is
 * freed. Names that the programs cannot read in the kernel are stored in maps for them.
 *
 * Some kernels refuse iterators over maps but allow iterators over kernel symbols. The files have
 * the same contents then, and a read takes some 30 ms more, since the kernel iterates over all
 * symbols.
 */
#include "capture/instance/files.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/feature/feature.h"
#include "capture/feature/kernel_types.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/proc_tasks.h"
#include "capture/load/skeleton.h"
#include "error.h"
#include "files.skel.h"
#include "format/mappings_text.h"
#include "format/printable.h"
#include "kept_records.h"
#include "symbol/kernel/kernel_image.h"
#include "trace/block/source_name.h"

/* The state of collecting the lines of the kernel and its modules. If addresses are hidden, names
 * and build ids still identify the kernel. */
struct gathering {
	struct kernel_mappings *lines;
	FILE *to;
	long begin; /* offset of the next line in `to` */
	bool hides_addresses;
};

static int add_module_line(void *arg, const struct trace_module *module)
{
	struct gathering *gathering = arg;
	struct trace_module shown = *module;
	long length;

	if (gathering->hides_addresses)
		shown.start = shown.end = 0;
	mappings_put_module(&shown, gathering->to);
	fputc(0, gathering->to);
	length = ftell(gathering->to) - gathering->begin;
	gathering->begin += length;
	gathering->lines->count++;
	if (length > gathering->lines->longest)
		gathering->lines->longest = length;
	return ferror(gathering->to) ? -ENOMEM : 0;
}

int kernel_mappings_read(const struct kernel_files *files, bool hides_addresses,
			 struct kernel_mappings *lines, struct stackmap_error *error)
{
	struct gathering gathering = {.lines = lines, .hides_addresses = hides_addresses};
	int result;

	*lines = (struct kernel_mappings){};
	gathering.to = open_memstream(&lines->text, &lines->bytes);
	if (!gathering.to)
		return error_set(error, ENOMEM, "mappings: %s", strerror(ENOMEM));
	result = kernel_image_each_module(files, add_module_line, &gathering, error);
	fclose(gathering.to);
	if (result)
		kernel_mappings_clear(lines);
	return result;
}

void kernel_mappings_clear(struct kernel_mappings *lines)
{
	free(lines->text);
	*lines = (struct kernel_mappings){};
}

/* A kind of kernel objects that the iterators of the readable files go over. */
struct iterated {
	enum feature feature;
	const char *target; /* name of the iterator's target; NULL = the iterator goes over a map,
			       which is the target in the BPF object */
	u32 parts_max;
};

/* parts_max: the kernel ends a read after a million objects without output, and each kernel has
 * more symbols than the second value. */
static const struct iterated iterated[] = {
	{FEATURE_MAP_ITERATOR, NULL, 900000},
	{FEATURE_SYMBOL_ITERATOR, "ksym", 32768},
};
#define ITERATED (sizeof(iterated) / sizeof(iterated[0]))

/* A file is printed in parts, one for each object of the iterator. A part has at least 64 user
 * frames, with lines below 300 bytes, or 128 kernel frames, and at least 26 kilobytes. */
#define POOL_WORDS_A_PART 64
#define SLOTS_A_PART 2048
#define EVENTS_A_PART 64 /* number of events, or of rows of aggregated events */
/* Objects that the iterator needs in addition to the parts: one object ends the read, and the
 * kernel shows the last object twice. */
#define OBJECTS_MORE 2
/* The fewest parts of a file: twice as many as the longest mappings take. */
#define PARTS_MIN 1024

static u32 count_file_parts(const struct plan *plan, const struct iterated *over)
{
	const struct table_geometry *geometry = &plan->geometry;
	u64 for_stacks =
		geometry->pool_words / POOL_WORDS_A_PART + geometry->slot_mask / SLOTS_A_PART;
	u64 events = plan->config.aggregate ? plan->config.counted_rows : plan->config.ring_slots;
	u64 for_events = events * plan->config.cpus / EVENTS_A_PART;
	u64 most = PARTS_MIN + (for_stacks > for_events ? for_stacks : for_events);

	return most < over->parts_max ? most : over->parts_max;
}

static u32 length_of_longest_source_name(const struct source_list *sources)
{
	size_t longest = 0;

	for (u32 kind = 0; kind < sources->count; kind++) {
		size_t length = strlen(trace_source_short_name(sources->sources[kind].name));

		longest = length > longest ? length : longest;
	}
	return longest;
}

/* Sets the sizes of the object's maps, before it is loaded. */
static int set_map_sizes(struct files_bpf *files, const struct loaded *loaded,
			 const struct kernel_mappings *kernel, const struct iterated *over)
{
	const struct source_list *sources = loaded->sources;
	u32 cpus = loaded->plan.config.cpus;
	u32 parts = count_file_parts(&loaded->plan, over);
	int result = bpf_map__set_max_entries(files->maps.elements,
					      over->target ? 1 : parts + OBJECTS_MORE);

	files->rodata->parts = parts;
	files->rodata->kernel_mapping_count = kernel->count;
	result = result ?: bpf_map__set_max_entries(files->maps.kernel_mappings, kernel->count);
	result = result ?: bpf_map__set_value_size(files->maps.kernel_mappings, kernel->longest);
	result = result ?: bpf_map__set_value_size(files->maps.readings, READING_BYTES(cpus));
	result = result ?: bpf_map__set_max_entries(files->maps.source_names, sources->count);
	return result
		       ?: bpf_map__set_value_size(files->maps.source_names,
						  length_of_longest_source_name(sources) + 1);
}

/* Stores a text as the value of a map's element, with unprintable bytes replaced. The text is
 * shorter than the map's values. */
static int set_map_text(const struct bpf_map *map, u32 at, const char *text)
{
	u32 bytes = bpf_map__value_size(map);
	char *value = calloc(1, bytes);
	int result;

	if (!value)
		return -ENOMEM;
	snprintf(value, bytes, "%s", text);
	replace_unprintable_bytes(value);
	result = bpf_map_update_elem(bpf_map__fd(map), &at, value, BPF_ANY);
	free(value);
	return result;
}

/* Stores the name of a thread that existed before the BPF programs were attached. A name that the
 * programs have stored since then is newer and stays. */
static int store_thread_name(void *arg, u32 tgid, u32 tid)
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

/* Stores the name for a thread id that stands for no single task. */
static void set_special_name(const struct files_bpf *files, u32 tid, const char *comm)
{
	struct task_name name = {};

	strcpy((char *)name.comm, comm);
	bpf_map_update_elem(bpf_map__fd(files->maps.task_names), &tid, &name, BPF_ANY);
}

/* Fills the maps with names, after the object is loaded. */
static int fill_name_maps(const struct files_bpf *files, const struct loaded *loaded,
			  const struct kernel_mappings *kernel)
{
	const struct source_list *sources = loaded->sources;
	const char *line = kernel->text;
	int result = 0;

	set_special_name(files, 0, pid_namespace_name_of_zero(&loaded->plan.config.pids));
	set_special_name(files, TID_INTERRUPT, TID_INTERRUPT_NAME);
	proc_tasks_each(store_thread_name, files->maps.task_names);
	for (u32 kind = 0; kind < sources->count && !result; kind++)
		result = set_map_text(files->maps.source_names, kind,
				      trace_source_short_name(sources->sources[kind].name));
	for (u32 i = 0; i < kernel->count && !result; i++, line += strlen(line) + 1)
		result = set_map_text(files->maps.kernel_mappings, i, line);
	return result;
}

/* Makes the object use the instance's map of the same name for each of its maps. */
static int reuse_instance_maps(struct files_bpf *files, const struct bpf_object *instance)
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

static int load_bpf_object_of_files(struct files_bpf *files, struct loaded *loaded,
				    const struct files_options *options,
				    const struct kernel_mappings *kernel,
				    const struct iterated *over)
{
	const struct plan *plan = &loaded->plan;
	struct bpf_program *program = NULL;
	int result;

	memcpy(&files->rodata->config, &plan->config, sizeof(plan->config));
	memcpy(&files->rodata->geometry, &plan->geometry, sizeof(plan->geometry));
	files->rodata->hides_addresses = options->hides_addresses;
	bpf_program__set_autoload(files->progs.show_aggregates, plan->config.aggregate);
	result = set_map_sizes(files, loaded, kernel, over);
	while (over->target && !result && (program = bpf_object__next_program(files->obj, program)))
		result = bpf_program__set_attach_target(program, 0, over->target);
	result = result ?: reuse_instance_maps(files, loaded_programs(loaded)->obj);
	result = result ?: files_bpf__load(files);
	return result ?: fill_name_maps(files, loaded, kernel);
}

#define SHOWS "show_"

/* Makes the path of a readable file, which has the name of its program, without "show_". */
static void make_file_path(const struct bpf_program *program, const struct files_options *options,
			   char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/%s", options->folder, bpf_program__name(program) + strlen(SHOWS));
}

static int attach_and_pin_file(const struct bpf_program *program, int map,
			       const struct files_options *options)
{
	union bpf_iter_link_info info = {.map.map_fd = map};
	LIBBPF_OPTS(bpf_iter_attach_opts, over_map, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(program, map < 0 ? NULL : &over_map);
	bool has_group = options->group != FILES_NO_GROUP;
	char path[PATH_MAX];
	int result = libbpf_get_error(link);

	if (result)
		return result;
	make_file_path(program, options, path, sizeof(path));
	if (bpf_obj_pin(bpf_link__fd(link), path) ||
	    (has_group && chown(path, -1, options->group)) || chmod(path, has_group ? 0440 : 0400))
		result = -errno;
	bpf_link__destroy(link);
	return result;
}

static int pin_files(const struct files_bpf *files, const struct files_options *options,
		     const struct iterated *over)
{
	int map = over->target ? -1 : bpf_map__fd(files->maps.elements), result = 0;
	struct bpf_program *program = NULL;
	char path[PATH_MAX];

	while ((program = bpf_object__next_program(files->obj, program)) && !result)
		if (bpf_program__autoload(program))
			result = attach_and_pin_file(program, map, options);
	program = NULL;
	while (result && (program = bpf_object__next_program(files->obj, program))) {
		make_file_path(program, options, path, sizeof(path));
		unlink(path);
	}
	return result;
}

static int create_files_with_iterator(struct loaded *loaded, const struct files_options *options,
				      const struct kernel_mappings *kernel,
				      const struct iterated *over)
{
	LIBBPF_OPTS(bpf_object_open_opts, open_options);
	struct kernel_types types;
	struct files_bpf *files;
	size_t bytes;
	const void *object = files_bpf__elf_bytes(&bytes);
	int result;

	kernel_types_make(object, bytes, &types);
	open_options.btf_custom_path = kernel_types_path(&types);
	files = files_bpf__open_opts(&open_options);
	result = files ? 0 : -errno;
	result = result ?: load_bpf_object_of_files(files, loaded, options, kernel, over);
	kernel_types_clear(&types);
	result = result ?: pin_files(files, options, over);
	files_bpf__destroy(files);
	return result;
}

int files_create(struct loaded *loaded, const struct files_options *options,
		 struct stackmap_error *error)
{
	struct kernel_mappings kernel;
	int result = kernel_mappings_read(options->kernel_files, options->hides_addresses, &kernel,
					  error);

	if (result)
		return result;
	result = -EOPNOTSUPP;
	for (size_t i = 0; i < ITERATED && result && result != -ENOMEM; i++) {
		struct feature_result feature;

		feature_probe_once(iterated[i].feature, &feature);
		if (feature.works)
			result = create_files_with_iterator(loaded, options, &kernel, &iterated[i]);
		if (result)
			error_set(error, -result, "%s: %s", feature_name(iterated[i].feature),
				  feature.works ? strerror(-result) : feature.why);
	}
	kernel_mappings_clear(&kernel);
	return result;
}
