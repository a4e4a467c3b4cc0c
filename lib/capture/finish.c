/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two ends of a file: what must stand before the first event, and what is known only after the
 * last one: the names of all frames, and the ledger.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/answers.h"
#include "capture/attach_perf.h"
#include "capture/instance.h"
#include "capture/naming.h"
#include "capture/skeleton.h"
#include "error.h"
#include "symbol/kernel_image.h"

static int write_module(void *writer, const struct trace_module *module)
{
	return trace_writer_module(writer, module);
}

int capture_begin(struct capture *capture, struct trace_writer *writer,
		  struct stackmap_error *error)
{
	u32 kind;
	int result = 0;

	for (kind = 0; kind < capture->sources->count && !result; kind++) {
		const struct source *source = &capture->sources->sources[kind];
		struct trace_source written = {
			.name = source->name,
			.extras = source->type == SOURCE_SAMPLE ? TRACE_EXTRA_LEAF : 0,
			.value_unit = "",
		};

		result = trace_writer_source(writer, &written);
	}
	result = result ?: kernel_image_modules(write_module, writer, error);
	result = result ?: task_log_scan(capture->tasks, writer);
	result = result ?: trace_writer_flush(writer);
	if (result)
		error_set(error, -result, "the recording cannot be begun: %s", strerror(-result));
	return result;
}

static void sum_lane(const struct lane *lane, struct trace_cpu_ledger *ledger, u64 *notes)
{
	u32 cause;

	ledger->produced +=
		lane->counters.produced + lane->counters.lost[LOST_PAUSED] + lane->refused;
	ledger->lost[LOST_NESTED] += lane->refused;
	for (cause = 0; cause < LOST_COUNT; cause++)
		ledger->lost[cause] += lane->counters.lost[cause];
	notes[NOTE_UNKNOWN_FRAMES] += lane->counters.unknown_frames;
}

static void sum_cpu(const struct capture *capture, u32 cpu, struct trace_cpu_ledger *ledger,
		    u64 *notes)
{
	const struct lane *lanes =
		(void *)((u8 *)capture->lanes.memory + cpu * capture->lanes.stride);
	u32 i;

	*ledger = (struct trace_cpu_ledger){.cpu = cpu, .recorded = capture->cpus[cpu].events};
	ledger->lost[LOST_OVERWRITTEN] = capture->cpus[cpu].passed_over;
	for (i = 0; i < LANES_PER_CPU; i++)
		sum_lane(&lanes[i], ledger, notes);
}

static u64 recursion_misses(const struct capture *capture)
{
	u64 misses = 0;
	u32 i;

	for (i = 0; i < capture->attachment.set_count; i++)
		misses += program_set_recursion_misses(&capture->attachment.sets[i]);
	return misses;
}

static void balance(const struct capture *capture, const struct trace_writer *writer,
		    struct trace_ledger *ledger, struct trace_cpu_ledger *cpus)
{
	u32 cpu, cause;

	*ledger = capture->written;
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		sum_cpu(capture, cpu, &cpus[cpu], ledger->notes);
		ledger->produced += cpus[cpu].produced;
		for (cause = 0; cause < LOST_COUNT; cause++)
			ledger->lost[cause] += cpus[cpu].lost[cause];
	}
	ledger->notes[NOTE_UNNAMED_TASKS] = capture_programs(capture)->bss->tasks_lost;
	ledger->notes[NOTE_UNFOLLOWED_TASKS] = capture_programs(capture)->bss->follow_lost;
	ledger->recorded = trace_writer_recorded(writer);
	ledger->lost[LOST_WRITE_ERROR] += trace_writer_lost(writer);
	ledger->lost[LOST_RECURSION] =
		recursion_misses(capture) + attach_perf_skipped(&capture->attachment);
	ledger->produced += ledger->lost[LOST_RECURSION];
}

int capture_finish(struct capture *capture, struct trace_writer *writer,
		   struct trace_ledger *ledger, struct stackmap_error *error)
{
	struct trace_cpu_ledger *cpus = calloc(capture->plan.config.cpus, sizeof(*cpus));
	int result;

	if (!cpus)
		return error_set(error, ENOMEM, "ledger: %s", strerror(ENOMEM));
	if (capture->join)
		answers_end(capture, writer);
	trace_writer_flush(writer);
	result = capture_name_frames(capture, writer, error);
	balance(capture, writer, ledger, cpus);
	trace_writer_ledger(writer, ledger, cpus, capture->plan.config.cpus);
	free(cpus);
	return result;
}
