/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/drain/recording.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "capture/drain/alive_events.h"
#include "capture/drain/deferred.h"
#include "capture/drain/span_stacks.h"
#include "capture/drain/symbols.h"
#include "capture/drain/thread_times.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/skeleton.h"
#include "symbol/symbolizer/context_finder.h"
#include "symbol/symbolizer/symbolizers.h"

static int create_task_log_of_recording(struct recording *recording)
{
	const struct loaded *loaded = recording->loaded;
	const struct task_log_options options = {
		.zero = pid_namespace_name_of_zero(&loaded->plan.config.pids),
		.names_fd =
			loaded->opened ? bpf_map__fd(loaded_programs(loaded)->maps.task_names) : -1,
		.paths = loaded->cgroup_paths.memory,
		.comms = loaded->plan.config.by_comm ? &loaded->plan.config.comms : NULL,
		.ignores_proc = loaded->foreign,
	};

	return task_log_create(&options, &recording->tasks);
}

/* Makes recording->wake readable while `fd` is readable. */
static int add_wake(struct recording *recording, int fd)
{
	struct epoll_event readable = {.events = EPOLLIN};

	return epoll_ctl(recording->wake, EPOLL_CTL_ADD, fd, &readable) ? -errno : 0;
}

int recording_create(struct recording *recording, struct loaded *loaded,
		     struct symbolizers *symbolizers)
{
	const struct capture_config *config = &loaded->plan.config;
	int result;

	recording->loaded = loaded;
	recording->symbolizers = symbolizers;
	recording->cpus = calloc(config->cpus, sizeof(*recording->cpus));
	recording->wake = epoll_create1(EPOLL_CLOEXEC);
	result = recording->wake < 0 ? -errno : recording->cpus ? 0 : -ENOMEM;
	result = result ?: add_wake(recording, symbolizers_answers_fd(symbolizers))
			 ?: create_task_log_of_recording(recording);
	if (!result && config->trace_ids)
		result = context_finder_start(
			bpf_map__fd(loaded_programs(loaded)->maps.context_places),
			&recording->contexts);
	if (!result && config->alive)
		result = alive_events_create(recording);
	if (!result && config->begin_stacks)
		result = span_stacks_create(recording);
	if (!result && loaded->plan.times)
		result = thread_times_create(recording);
	if (!result && config->user_stacks)
		result = new_code_ring_create(recording);
	if (result || !config->user_stacks || config->user_unwind != USER_UNWIND_AUTO)
		return result;
	recording->pace.watches = config->deferral == DEFERRAL_ASSISTED;
	return deferred_create(recording);
}

static void drop_symbol_requests(struct recording *recording)
{
	free(recording->named.items);
	recording->named = (struct frame_addresses){};
	recording->named_ahead = false;
	recording->next_ask = recording->next_learn = 0;
	recording->names_until = 0;
}

void recording_free(struct recording *recording)
{
	deferred_free(&recording->deferred);
	context_finder_end(&recording->contexts);
	alive_events_free(recording);
	span_stacks_free(recording);
	thread_times_free(recording);
	new_code_ring_free(recording);
	if (recording->wake > 0)
		close(recording->wake);
	for (u32 i = 0; i < TABLE_ROLES; i++)
		free(recording->stacks[i].items);
	free(recording->attributes.items);
	hash_index_free(&recording->attributes.index);
	drop_symbol_requests(recording);
	if (recording->tasks)
		task_log_free(&recording->tasks);
	free(recording->cpus);
}

void recording_reset_state_for_new_file(struct recording *recording)
{
	for (u32 i = 0; i < TABLE_ROLES; i++)
		recording->stacks[i].generation = 0;
	hash_index_clear(&recording->attributes.index);
	drop_symbol_requests(recording);
	memset(recording->mapping_written, 0, sizeof(recording->mapping_written));
	memset(&recording->written, 0, sizeof(recording->written));
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		recording->cpus[cpu].events = recording->cpus[cpu].ended =
			recording->cpus[cpu].passed_over = 0;
	if (recording->spans)
		span_stacks_begin_file(recording);
	if (recording->deferred)
		deferred_stacks_begin_file(recording->deferred->stacks,
					   recording->mode != READ_DRAIN);
}

/* Callback for a mapping's number in the ring buffer. The programs report each mapping once
 * (bpf/mapping/user_mapping.h). */
static int request_build_id_and_table_of_new_mapping(void *arg, void *data, size_t bytes)
{
	if (bytes >= sizeof(u32))
		symbols_request_build_id_and_table(arg, *(const u32 *)data);
	return 0;
}

int new_code_ring_create(struct recording *recording)
{
	int map = bpf_map__fd(loaded_programs(recording->loaded)->maps.new_code);

	recording->new_code =
		ring_buffer__new(map, request_build_id_and_table_of_new_mapping, recording, NULL);
	return recording->new_code ? add_wake(recording, map) : -errno;
}

void new_code_ring_free(struct recording *recording)
{
	ring_buffer__free(recording->new_code);
	recording->new_code = NULL;
}

void new_code_take_mappings(struct recording *recording)
{
	ring_buffer__consume(recording->new_code);
}
