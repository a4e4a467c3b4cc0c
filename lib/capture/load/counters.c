/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf counters that programs read at events (bpf/event/thread_count.h): a BPF map has one
 * counter for each CPU. The map keeps the perf events alive, so their descriptors are closed at
 * once.
 *
 * The perf events are pinned (perf_event_open(2)): a pinned event counts all the time, or fails.
 * Without pinning the kernel may let several events take turns on a hardware counter, and counts
 * would be estimates. Reading a pinned event that does not count fails, too, for example after its
 * CPU was offline.
 */
#include "capture/load/attach.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/plan.h"
#include "capture/load/skeleton.h"
#include "capture/source/source_counter.h"
#include "error.h"
#include "privilege/limit.h"

static struct perf_event_attr make_counter_attr(const struct source_counter *counter)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = counter->perf_type,
		.config = counter->perf_config[0],
		.config1 = counter->perf_config[1],
		.config2 = counter->perf_config[2],
		.exclude_user = counter->no_user,
		.exclude_kernel = counter->no_kernel,
		.pinned = 1,
	};
}

static int open_counter(const struct attachment *attachment, const struct source *source, u32 cpu)
{
	struct perf_event_attr attr = make_counter_attr(&source->counter);
	u32 index = COUNTER_INDEX(source->question.counter - 1, cpu, attachment->plan->config.cpus);
	int map = bpf_map__fd(attachment->sets[0].object->maps.counters), result;
	u64 count;
	int event = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return -errno;
	/* A pinned event that finds no place in the hardware reads as the end of a file. */
	result = read(event, &count, sizeof(count))
			 ? bpf_map_update_elem(map, &index, &event, BPF_ANY)
			 : -EBUSY;
	close(event);
	return result;
}

/* The first source that reads the counter of this number, or NULL. */
static const struct source *find_counter_source(const struct attachment *attachment, u32 number)
{
	const struct source_list *list = attachment->sources;

	for (u32 kind = 0; kind < list->count; kind++)
		if (list->sources[kind].question.counter == number)
			return &list->sources[kind];
	return NULL;
}

int attachment_open_cpu_counters(struct attachment *attachment, u32 cpu)
{
	int result = 0;

	for (u32 number = 1; number <= attachment->plan->config.counters && !result; number++) {
		const struct source *source = find_counter_source(attachment, number);

		if (source)
			result = open_counter(attachment, source, cpu);
	}
	return result;
}

static int open_counter_on_all_cpus(const struct attachment *attachment,
				    const struct source *source, struct stackmap_error *error)
{
	int result = 0;

	for (u32 cpu = 0; cpu < attachment->plan->config.cpus; cpu++) {
		result = open_counter(attachment, source, cpu);
		if (result && result != -ENODEV) /* -ENODEV: the CPU is offline, and is left out */
			return error_set(error, -result,
					 "-e %s: its counter cannot be opened: %s%s", source->name,
					 result == -EBUSY
						 ? "other users of perf, such as the NMI "
						   "watchdog, have all counters of the hardware"
						 : strerror(-result),
					 limit_advice(-result));
	}
	return 0;
}

int attachment_open_counters(struct attachment *attachment, struct stackmap_error *error)
{
	int result = 0;

	for (u32 number = 1; number <= attachment->plan->config.counters && !result; number++) {
		const struct source *source = find_counter_source(attachment, number);

		if (source)
			result = open_counter_on_all_cpus(attachment, source, error);
	}
	return result;
}

int attachment_begin_counting(struct attachment *attachment, struct stackmap_error *error)
{
	const struct program_set *set = &attachment->sets[0];
	int result;

	if (!attachment->plan->config.counters)
		return 0;
	result = link_typed_program(&attachment->links,
				    program_set_find_fd(set, set->object->progs.on_count_switch));
	if (result)
		return error_set(error, -result, "tracepoint sched_switch: %s", strerror(-result));
	__atomic_store_n(&set->object->bss->counts_open, 1, __ATOMIC_SEQ_CST);
	return 0;
}
