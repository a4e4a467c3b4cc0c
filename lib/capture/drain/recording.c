/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a reader owns. */
#include "capture/drain/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "capture/drain/deferred.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/skeleton.h"

static int create_tasks(struct recording *recording)
{
	const struct loaded *loaded = recording->loaded;
	struct task_log *tasks;

	if (task_log_create(pid_namespace_zero(&loaded->plan.config.pids), &recording->tasks))
		return -ENOMEM;
	tasks = recording->tasks;
	task_log_use_paths(tasks, loaded->cgroup_paths.memory);
	if (loaded->opened)
		task_log_use_names(tasks, bpf_map__fd(loaded_programs(loaded)->maps.task_names));
	if (loaded->foreign)
		task_log_ignore_proc(tasks);
	return 0;
}

int recording_create(struct recording *recording, struct loaded *loaded,
		     struct symbolizers *symbolizers)
{
	const struct capture_config *config = &loaded->plan.config;
	int result;

	recording->loaded = loaded;
	recording->symbolizers = symbolizers;
	recording->cpus = calloc(config->cpus, sizeof(*recording->cpus));
	result = recording->cpus ? create_tasks(recording) : -ENOMEM;
	if (result || !config->user_stacks || config->user_unwind != USER_UNWIND_AUTO)
		return result;
	return deferred_create(recording);
}

static void forget_names(struct recording *recording)
{
	free(recording->named.items);
	recording->named = (struct frame_addresses){};
	recording->named_ahead = false;
}

void recording_free(struct recording *recording)
{
	deferred_free(&recording->deferred);
	written_stacks_free(&recording->stacks);
	forget_names(recording);
	if (recording->tasks)
		task_log_free(&recording->tasks);
	free(recording->cpus);
}

void recording_begin_file(struct recording *recording)
{
	u32 cpu;

	written_stacks_forget(&recording->stacks);
	forget_names(recording);
	memset(recording->mapping_written, 0, sizeof(recording->mapping_written));
	memset(&recording->written, 0, sizeof(recording->written));
	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		recording->cpus[cpu].events = recording->cpus[cpu].passed_over = 0;
	if (recording->deferred)
		deferred_begin_file(recording);
}
