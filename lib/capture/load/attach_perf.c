/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events are enabled only when their program is in place, so that count and runs mean the same
 * time. */
#include "capture/load/attach_perf.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "capture/load/skeleton.h"

#define NS_PER_SECOND 1000000000ULL

static int open_event(struct attachment *attachment, struct perf_event_attr *attr, u32 kind,
		      pid_t pid, int cpu, int program_fd)
{
	int result;

	if (array_make_room(attachment->events, attachment->event_count, attachment->event_room))
		return -ENOMEM;
	attachment->events[attachment->event_count] =
		(struct perf_event){.link = attachment->links.count, .kind = kind, .cpu = cpu};
	result = link_perf_event(&attachment->links, attr, pid, cpu, program_fd, 0);
	if (!result)
		attachment->event_count++;
	return result;
}

static struct perf_event *find_event(struct attachment *attachment, u32 kind, u32 cpu)
{
	for (u32 i = 0; i < attachment->event_count; i++)
		if (attachment->events[i].kind == kind && attachment->events[i].cpu == (int)cpu)
			return &attachment->events[i];
	return NULL;
}

/* Its CPU was offline: the event has ended, and keeps what it had counted. */
static int open_again(struct attachment *attachment, struct perf_event *event,
		      struct perf_event_attr *attr, int program_fd)
{
	u64 count = 0;
	int result;

	link_perf_count(&attachment->links, event->link, &count);
	result = link_perf_event_again(&attachment->links, event->link, attr, event->cpu,
				       program_fd);
	if (!result)
		event->count_before += count;
	return result ?: link_perf_enable(&attachment->links, event->link);
}

static struct perf_event_attr attr_of(const struct attachment *attachment,
				      const struct source *source)
{
	u64 frequency = source->frequency ? attachment->frequency ?: source->frequency : 0;

	return (struct perf_event_attr){
		.type = source->perf_type,
		.config = source->perf_config,
		.freq = frequency != 0,
		.sample_period = frequency ?: source->period,
		.exclude_user = source->no_user,
		.exclude_kernel = source->no_kernel,
		.precise_ip = source->precise,
		.disabled = 1,
		.enable_on_exec = attachment->command != 0,
		.inherit = attachment->command != 0,
	};
}

int attach_perf_cpu(struct attachment *attachment, const struct source *source, u32 kind,
		    int program_fd, u32 cpu)
{
	const struct capture_config *config = &attachment->plan->config;
	struct perf_event_attr attr = attr_of(attachment, source);
	struct perf_event *event = find_event(attachment, kind, cpu);

	if (config->by_cpu && !(config->cpu_mask[cpu / 64] >> (cpu % 64) & 1))
		return 0;
	if (event)
		return open_again(attachment, event, &attr, program_fd);
	return open_event(attachment, &attr, kind, -1, cpu, program_fd)
		       ?: link_perf_enable(&attachment->links, attachment->links.count - 2);
}

int attach_perf(struct attachment *attachment, const struct source *source, u32 kind,
		int program_fd)
{
	struct perf_event_attr attr = attr_of(attachment, source);
	u32 before = attachment->event_count;
	int result = -ENODEV;

	if (attachment->command)
		return open_event(attachment, &attr, kind, attachment->command, -1, program_fd);
	for (u32 cpu = 0; cpu < attachment->plan->config.cpus; cpu++) {
		result = attach_perf_cpu(attachment, source, kind, program_fd, cpu);
		if (result && result != -ENODEV) /* an offline CPU */
			return result;
	}
	return attachment->event_count > before ? 0 : -ENODEV;
}

/* The kernel's clocks know periods only, in ns. */
static u64 period_of(const struct source *source, u64 frequency)
{
	bool is_clock = source->perf_type == PERF_TYPE_SOFTWARE &&
			(source->perf_config == PERF_COUNT_SW_CPU_CLOCK ||
			 source->perf_config == PERF_COUNT_SW_TASK_CLOCK);

	return is_clock ? NS_PER_SECOND / frequency : frequency;
}

int attach_perf_set_frequency(struct attachment *attachment, u64 frequency)
{
	int result = 0;

	attachment->frequency = frequency;
	for (u32 i = 0; i < attachment->event_count; i++) {
		const struct perf_event *event = &attachment->events[i];
		const struct source *source = &attachment->sources->sources[event->kind];

		if (source->frequency)
			result = link_perf_period(&attachment->links, event->link,
						  period_of(source, frequency))
					 ?: result;
	}
	return result;
}

void attach_perf_stop(struct attachment *attachment)
{
	if (!attachment->links.count) /* stopped before */
		return;
	for (u32 i = 0; i < attachment->event_count; i++) {
		struct perf_event *event = &attachment->events[i];

		if (link_perf_count(&attachment->links, event->link, &event->count))
			event->count = 0;
		event->count += event->count_before;
	}
}

static u64 count_of(const struct attachment *attachment, u32 kind)
{
	u64 count = 0;

	for (u32 i = 0; i < attachment->event_count; i++)
		if (attachment->events[i].kind == kind)
			count += attachment->events[i].count;
	return count;
}

/* All CPUs together. */
static struct perf_runs runs_of(const struct attachment *attachment, u32 kind)
{
	struct perf_runs *runs = calloc(libbpf_num_possible_cpus(), sizeof(*runs)), sum = {};
	int fd = bpf_map__fd(attachment->sets[0].object->maps.perf_runs), cpu;

	if (runs && !bpf_map_lookup_elem(fd, &kind, runs))
		for (cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
			sum.runs += runs[cpu].runs;
			sum.count += runs[cpu].count;
		}
	free(runs);
	return sum;
}

static u64 skipped_of(const struct attachment *attachment, u32 kind)
{
	struct perf_runs sum = runs_of(attachment, kind);
	u64 count = attachment->event_count ? count_of(attachment, kind) : sum.count;

	return count > sum.runs ? count - sum.runs : 0;
}

static bool is_each_counted(const struct source *source)
{
	return source->type == SOURCE_PERF && !source->frequency && source->period == 1;
}

u64 attach_perf_skipped(const struct attachment *attachment)
{
	u64 skipped = 0;

	for (u32 kind = 0; kind < attachment->sources->count; kind++)
		if (is_each_counted(&attachment->sources->sources[kind]))
			skipped += skipped_of(attachment, kind);
	return skipped;
}
