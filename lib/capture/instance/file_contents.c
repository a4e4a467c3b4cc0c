/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sizes, and what is known at start only. */
#include "capture/instance/file_contents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/instance/files_skeleton.h"
#include "capture/instance/kernel_mappings.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/proc_tasks.h"
#include "file_reading.h"
#include "format/printable.h"
#include "task_name.h"
#include "trace/block/source_name.h"

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

int file_contents_size(struct files_bpf *files, const struct loaded *loaded,
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

int file_contents_fill(const struct files_bpf *files, const struct loaded *loaded,
		       const struct kernel_mappings *kernel)
{
	name_tasks(files, &loaded->plan.config.pids);
	return name_sources(files, loaded->sources) ?: name_kernel(files, kernel);
}
