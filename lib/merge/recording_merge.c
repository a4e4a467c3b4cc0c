/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings are written one after the other. The writer is flushed after each recording, so each
 * block has the events of one recording, in the order of time; readers merge the blocks.
 * Definitions of a recording are written before its events, as the writer requires.
 *
 * A task name without a time was set before its recording began. In the merged recording it gets
 * the time `since`, just before all times of its recording, since the same id may belong to another
 * task in an earlier recording.
 */
#include "recording_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "code_space.h"
#include "error.h"
#include "machine_list.h"
#include "report/profile/comparison.h"
#include "text_list.h"
#include "trace/write/memory_recording.h"
#include "trace/write/recorded_sets.h"

#define TEXT_BYTES 1024

struct merge {
	struct trace_reader *const *readers;
	u32 count;
	struct machine_list machines;
	struct code_space *code;
	struct trace_writer *writer;
	struct trace_source *sources;
	u32 source_count, source_room;
	struct stack_set stacks;
	u32 stack_count;
	struct trace_ledger ledger;
	struct trace_cpu_ledger *cpus; /* ledger of each CPU; index: number of the CPU */
	u64 lost[KIND_SOURCES]; /* by source: number of lost events that are known to be of this
				   source */
	bool has_ledger;
	bool is_summary;
	const char *name; /* name of the merged recording, for error messages */
};

/* The recording that is being added. */
struct part {
	struct merge *merge;
	const struct trace_reader *reader;
	struct code_map *code;
	u64 shift;
	u32 first_tid, first_cpu;
	u64 since; /* ns: time of the task names that were set before the recording; just before all
		      times of the recording */
	u32 cgroups_before; /* number of cgroups of the recordings that were added before */
	u16 *kinds;
	u32 *stacks;
	u32 *contexts, *attributes; /* their numbers in the merged recording */
};

/* Sets *kind to the merged recording's number of an event source; a new source is added and
 * written. */
static int find_or_add_event_source(struct merge *merge, const struct trace_source *source,
				    u16 *kind)
{
	for (u32 i = 0; i < merge->source_count; i++) {
		const struct trace_source *known = &merge->sources[i];

		bool is_same = known->extras == source->extras &&
			       !strcmp(known->name, source->name) &&
			       !strcmp(known->value_unit, source->value_unit);

		if (is_same && known->extras & TRACE_EXTRA_FURTHER)
			is_same = !strcmp(known->further_unit, source->further_unit) &&
				  !strcmp(known->value_name, source->value_name) &&
				  !strcmp(known->further_name, source->further_name);
		if (!is_same)
			continue;
		*kind = (u16)i;
		return 0;
	}
	if (array_make_room(merge->sources, merge->source_count, merge->source_room))
		return -ENOMEM;
	merge->sources[merge->source_count] = *source;
	*kind = (u16)merge->source_count++;
	return trace_writer_source(merge->writer, source);
}

static int add_event_sources(struct part *part)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(part->reader, &sources);
	int err = 0;

	part->kinds = calloc(count + 1UL, sizeof(*part->kinds));
	if (!part->kinds)
		return -ENOMEM;
	for (u32 i = 0; i < count && !err; i++) {
		struct trace_source source = sources[i];

		if (part->merge->is_summary)
			source.extras &= ~(u32)TRACE_EXTRA_FURTHER;
		err = find_or_add_event_source(part->merge, &source, &part->kinds[i]);
	}
	return err;
}

static int add_stacks(struct part *part)
{
	const struct trace_stack *stacks;
	u32 count = trace_reader_stacks(part->reader, &stacks);
	struct merge *merge = part->merge;
	u64 frames[STACK_WORDS_MAX];
	int err = 0;

	part->stacks = calloc(count + 1UL, sizeof(*part->stacks));
	if (!part->stacks)
		return -ENOMEM;
	for (u32 i = 0; i < count && !err; i++) {
		struct trace_stack moved = stacks[i];

		for (u32 f = 0; f < moved.depth; f++)
			frames[f] = code_map_frame(part->code, moved.frames[f]);
		moved.frames = frames;
		if (stack_set_find(&merge->stacks, &moved, &part->stacks[i]))
			continue;
		moved.id = ++merge->stack_count;
		moved.generation = 1;
		err = trace_writer_stack(merge->writer, &moved, &part->stacks[i])
			      ?: stack_set_add(&merge->stacks, &moved, part->stacks[i]);
	}
	return err;
}

static int add_symbols(const struct part *part)
{
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(part->reader, &symbols);
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_symbol moved = code_map_symbol(part->code, &symbols[i]);

		err = trace_writer_symbol(part->merge->writer, &moved);
	}
	return err;
}

/* Calls `each` for the events of a recording. If events are damaged, the damage is set in the
 * recording's reader, and the other recordings are merged all the same. The merged recording then
 * has no ledger, since the number of lost events is unknown. */
static int read_part_events(struct part *part, struct trace_reader *reader,
			    int (*each)(void *arg, const struct trace_event *event), void *arg,
			    struct stackmap_error *error)
{
	struct stackmap_error why = {};
	int result = trace_reader_events(reader, each, arg, &why);

	if (result == -EBADMSG) {
		trace_reader_set_damage(reader, &why);
		part->merge->has_ledger = false;
		return 0;
	}
	if (result < 0 && why.message[0])
		*error = why;
	return result;
}

static int take_time_of_first_event(void *time, const struct trace_event *event)
{
	*(u64 *)time = event->time;
	return 1;
}

/* Sets `since` to a time just before the first event and before all task changes. */
static int set_start_time_of_initial_names(struct part *part, struct trace_reader *reader,
					   struct stackmap_error *error)
{
	const struct trace_task *tasks;
	u32 count = trace_reader_tasks(reader, &tasks);
	u64 first = UINT64_MAX;
	int err = read_part_events(part, reader, take_time_of_first_event, &first, error);

	for (u32 i = 0; i < count; i++)
		if (tasks[i].time && tasks[i].time < first)
			first = tasks[i].time;
	part->since = first + part->shift - 1;
	return err < 0 ? err : 0;
}

/* Cgroups with equal paths keep separate numbers, as within one recording; reports join them by
 * path. A cgroup without a path is known by its id, which differs between machines. */
static int add_cgroups(struct part *part, u32 machine)
{
	const struct trace_cgroup *cgroups;
	u32 count = trace_reader_cgroups(part->reader, &cgroups), number = 0;
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_cgroup moved = cgroups[i];

		if (moved.id)
			moved.id += machine_first_cgroup_id(machine);
		err = trace_writer_cgroup(part->merge->writer, &moved, &number);
	}
	part->cgroups_before = number - count;
	return err;
}

/* The id of a thread in the merged recording. Interrupts of all machines are one task. */
static u32 translate_thread_id(const struct part *part, u32 tid)
{
	return tid == TID_INTERRUPT ? tid : tid + part->first_tid;
}

static int add_tasks(const struct part *part)
{
	const struct trace_task *tasks;
	u32 count = trace_reader_tasks(part->reader, &tasks);
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_task moved = tasks[i];

		moved.time = moved.time ? moved.time + part->shift : part->since;
		moved.tid = translate_thread_id(part, moved.tid);
		moved.tgid = translate_thread_id(part, moved.tgid);
		if (moved.cgroup)
			moved.cgroup += part->cgroups_before;
		err = trace_writer_task(part->merge->writer, &moved);
	}
	return err;
}

/* Begin and end are moved to the clock of the merged recording; lengths of times stay the same. */
static int add_thread_times(const struct part *part)
{
	const struct thread_account *accounts;
	u32 count = trace_reader_accounts(part->reader, &accounts);
	int err = 0;

	if (part->merge->is_summary)
		return 0;
	for (u32 i = 0; i < count && !err; i++) {
		struct thread_account moved = accounts[i];

		moved.begin += part->shift;
		moved.end += part->shift;
		if (moved.tid)
			moved.tid = translate_thread_id(part, moved.tid);
		moved.tgid = translate_thread_id(part, moved.tgid);
		err = trace_writer_thread_account(part->merge->writer, &moved);
	}
	return err;
}

static int add_contexts(struct part *part)
{
	const struct trace_attributes *attributes;
	const struct trace_context *contexts;
	u32 attribute_count = trace_reader_attributes(part->reader, &attributes);
	u32 count = trace_reader_contexts(part->reader, &contexts);
	int err = 0;

	if (part->merge->is_summary)
		return 0;
	part->contexts = calloc(count + 1UL, sizeof(*part->contexts));
	part->attributes = calloc(attribute_count + 1UL, sizeof(*part->attributes));
	if (!part->contexts || !part->attributes)
		return -ENOMEM;
	for (u32 i = 0; i < attribute_count && !err; i++) {
		err = trace_writer_attributes(part->merge->writer, &attributes[i],
					      &part->attributes[i + 1]);
		err = err == -E2BIG ? 0 : err; /* count_unkept_attributes() */
	}
	for (u32 i = 0; i < count && !err; i++) {
		struct trace_context moved = contexts[i];

		moved.attributes = part->attributes[moved.attributes];
		err = trace_writer_context(part->merge->writer, &moved, &part->contexts[i]);
	}
	return err;
}

static int add_processes(struct part *part)
{
	const struct trace_process *processes;
	u32 count = trace_reader_processes(part->reader, &processes);
	int err = 0;

	if (part->merge->is_summary)
		return 0;
	for (u32 i = 0; i < count && !err; i++) {
		struct trace_process moved = processes[i];

		moved.tgid = translate_thread_id(part, moved.tgid);
		/* A process may have begun before the merged clock. */
		moved.since = (s64)(moved.since + part->shift) < 0 ? 0 : moved.since + part->shift;
		err = trace_writer_process(part->merge->writer, &moved);
	}
	return err;
}

static u32 translate_stack_index(const struct part *part, u32 stack)
{
	return stack == TRACE_NO_STACK ? TRACE_NO_STACK : part->stacks[stack];
}

/* Counts an event whose attributes found no room in the merged recording. */
static void count_unkept_attributes(const struct part *part, const struct trace_event *event)
{
	const struct trace_context *context = trace_reader_context(part->reader, event);

	if (context->attributes && !part->attributes[context->attributes])
		part->merge->ledger.notes[NOTE_UNKEPT_ATTRIBUTES]++;
}

static int add_event(void *arg, const struct trace_event *event)
{
	const struct part *part = arg;
	struct trace_event moved = *event;

	moved.time += part->shift;
	if (part->merge->is_summary)
		moved.is_counted = 0;
	if (part->merge->is_summary)
		moved.further = 0;
	if (event->has_context) {
		moved.has_context = !part->merge->is_summary;
		moved.context = moved.has_context ? part->contexts[event->context] : 0;
		if (moved.has_context)
			count_unkept_attributes(part, event);
	}
	moved.leaf = code_map_frame(part->code, event->leaf);
	moved.tid = translate_thread_id(part, moved.tid);
	moved.cpu = (u16)(event->cpu + part->first_cpu);
	moved.kind = part->kinds[event->kind];
	moved.kernel = translate_stack_index(part, event->kernel);
	moved.user = translate_stack_index(part, event->user);
	return trace_writer_event(part->merge->writer, &moved);
}

static void add_ledgers_to_merged(const struct part *part)
{
	struct merge *merge = part->merge;
	const struct trace_ledger *ledger = trace_reader_ledger(part->reader);
	const struct trace_cpu_ledger *cpus;
	const struct trace_source *sources;
	u32 count = trace_reader_cpu_ledgers(part->reader, &cpus);

	merge->has_ledger = merge->has_ledger && ledger;
	if (!merge->has_ledger || !part->kinds)
		return;
	trace_ledger_add(&merge->ledger, ledger);
	for (u32 kind = 0; kind < trace_reader_sources(part->reader, &sources); kind++)
		merge->lost[part->kinds[kind]] += compared_lost_of_source(part->reader, kind);
	for (u32 i = 0; i < count; i++) {
		u32 cpu = cpus[i].cpu + part->first_cpu;
		struct trace_cpu_ledger *sum;

		if (cpu >= merge->machines.cpus)
			continue;
		sum = &merge->cpus[cpu];
		sum->produced += cpus[i].produced;
		sum->recorded += cpus[i].recorded;
		sum->counted += cpus[i].counted;
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			sum->lost[cause] += cpus[i].lost[cause];
	}
}

static int add_recording(struct merge *merge, u32 number, struct stackmap_error *error)
{
	struct trace_reader *reader = merge->readers[number];
	u32 machine = merge->machines.machine_of[number];
	struct part part = {
		.merge = merge,
		.reader = reader,
		.shift = machine_list_time_shift(&merge->machines, reader),
		.first_tid = machine_first_tid(machine),
		.first_cpu = merge->machines.machines[machine].first_cpu,
	};
	int err = set_start_time_of_initial_names(&part, reader, error)
			  ?: add_event_sources(&part)
			  ?: code_space_add_recording(merge->code, reader, machine, part.first_tid,
					    merge->writer, &part.code)
			  ?: add_stacks(&part)
			  ?: add_symbols(&part)
			  ?: add_cgroups(&part, machine)
			  ?: add_tasks(&part)
			  ?: add_contexts(&part)
			  ?: add_processes(&part)
			  ?: add_thread_times(&part)
			  ?: read_part_events(&part, reader, add_event, &part, error)
			  ?: trace_writer_flush(merge->writer);

	add_ledgers_to_merged(&part);
	code_map_free(&part.code);
	free(part.kinds);
	free(part.stacks);
	free(part.contexts);
	free(part.attributes);
	return err;
}

struct texts {
	char hostname[TEXT_BYTES], kernel[TEXT_BYTES], machine[TEXT_BYTES];
};

/* Sets the trace_info of the merged recording. The frequency is 0 if the recordings have different
 * frequencies. If one of the recordings is a summary, the merged recording is a summary. */
static void describe_merged_recording(const struct merge *merge, struct texts *texts,
				      struct trace_info *whole)
{
	u32 has_part_aggregates = 0;

	*whole = (struct trace_info){
		.start_realtime = UINT64_MAX, .address_shown = 1, .has_aggregates = 1};
	for (u32 i = 0; i < merge->count; i++) {
		const struct trace_info *info = trace_reader_info(merge->readers[i]);
		const struct trace_source *first, *sources;
		const struct trace_ledger *ledger;
		/* A recording of one source has no ledgers of sources: its own ledger is that of
		 * the source. */
		bool has_other_source = trace_reader_sources(merge->readers[i], &sources) == 1 &&
					trace_reader_sources(merge->readers[0], &first) == 1 &&
					strcmp(sources->name, first->name) != 0;

		word_list_add_word(texts->hostname, TEXT_BYTES, info->hostname);
		word_list_add_word(texts->kernel, TEXT_BYTES, info->kernel);
		word_list_add_word(texts->machine, TEXT_BYTES, info->machine);
		if (info->start_realtime < whole->start_realtime)
			whole->start_realtime = info->start_realtime;
		if (info->bits > whole->bits)
			whole->bits = info->bits;
		whole->frequency = i && whole->frequency != info->frequency ? 0 : info->frequency;
		whole->address_shown &= info->address_shown;
		whole->is_summary |= info->is_summary;
		whole->has_times |= info->has_times;
		whole->has_counted |= info->has_counted;
		/* The merged recording has no aggregates if one recording has counted events that
		 * are sums of any values. A recording without counted events has no sums. */
		ledger = trace_reader_ledger(merge->readers[i]);
		has_part_aggregates |= info->has_aggregates;
		whole->has_aggregates &= info->has_aggregates || (ledger && !ledger->counted);
		whole->has_contexts |= info->has_contexts;
		whole->has_attributes |= info->has_attributes;
		whole->has_further |= info->has_further;
		whole->has_losses |= info->has_losses || has_other_source;
	}
	/* The version of a recording with attributes does not promise aggregates. */
	whole->has_aggregates &= has_part_aggregates && !whole->has_attributes;
	whole->start_monotonic = whole->start_realtime - merge->machines.booted;
	whole->cpus = merge->machines.cpus;
	whole->hostname = texts->hostname;
	whole->kernel = texts->kernel;
	whole->machine = texts->machine;
}

/* In a summary, whose events have no times, the events that are only counted become recorded
 * events. */
static void add_counted_to_recorded(u64 *recorded, u64 *counted)
{
	*recorded += *counted;
	*counted = 0;
}

/* Where the merged recording is written: a file or memory. `end` closes the writer if err is 0,
 * else discards the output. */
struct target {
	int (*begin)(struct target *target, const char *name, const struct trace_info *info,
		     struct trace_writer **writer, struct stackmap_error *error);
	int (*end)(struct target *target, int err, struct stackmap_error *error);
	struct trace_writer *file;
	struct memory_recording memory;
	struct trace_reader **out;
};

static int begin_file_target(struct target *target, const char *name, const struct trace_info *info,
			     struct trace_writer **writer, struct stackmap_error *error)
{
	int err = trace_writer_create(name, info, &target->file, error);

	if (!err)
		*writer = target->file;
	return err;
}

static int end_file_target(struct target *target, int err, struct stackmap_error *error)
{
	(void)error;
	if (!err)
		return trace_writer_close(&target->file);
	trace_writer_discard(&target->file);
	return err;
}

static int begin_memory_target(struct target *target, const char *name,
			       const struct trace_info *info, struct trace_writer **writer,
			       struct stackmap_error *error)
{
	int err = memory_recording_begin(&target->memory, name, info, error);

	if (!err)
		*writer = target->memory.writer;
	return err;
}

static int end_memory_target(struct target *target, int err, struct stackmap_error *error)
{
	if (!err)
		return memory_recording_end(&target->memory, target->out, error);
	memory_recording_discard(&target->memory);
	return err;
}

static int write_merged(struct merge *merge, struct target *target,
			const struct recording_merge_info *about, struct stackmap_error *error)
{
	struct texts texts = {};
	struct trace_info info;
	int err;

	describe_merged_recording(merge, &texts, &info);
	merge->is_summary = info.is_summary;
	info.command = about->command;
	info.version = about->version;
	err = target->begin(target, merge->name, &info, &merge->writer, error);
	if (err)
		return err;
	error_set(error, 0, "%s", "");
	for (u32 i = 0; i < merge->count && !err; i++)
		err = add_recording(merge, i, error);
	if (!err) {
		struct trace_cpu_ledger *cpus = merge->cpus;
		u32 count = 0;

		if (merge->is_summary)
			add_counted_to_recorded(&merge->ledger.recorded, &merge->ledger.counted);
		for (u32 i = 0; i < merge->machines.cpus; i++) {
			if (merge->is_summary)
				add_counted_to_recorded(&cpus[i].recorded, &cpus[i].counted);
			cpus[i].cpu = i;
			if (cpus[i].produced)
				cpus[count++] = cpus[i];
		}
		err = merge->has_ledger
			      ? trace_writer_ledger(merge->writer, &merge->ledger, cpus, count)
					?: trace_writer_losses(merge->writer, merge->lost)
			      : 0;
	}
	err = target->end(target, err, error);
	return err && !error->message[0] ? error_set_errno(error, -err, merge->name) : err;
}

static int merge_to_target(struct target *target, struct trace_reader *const *readers, u32 count,
			   const char *name, const struct recording_merge_info *info,
			   struct stackmap_error *error)
{
	struct merge merge = {.readers = readers, .count = count, .has_ledger = true, .name = name};
	int err = machine_list_create(&merge.machines, readers, count)
			  ?: code_space_create(&merge.code);

	if (!err)
		merge.cpus = calloc(merge.machines.cpus + 1UL, sizeof(*merge.cpus));
	if (!err && !merge.cpus)
		err = -ENOMEM;
	if (err)
		error_set(error, -err, "%s: %s", name,
			  err == -E2BIG ? "too many machines or CPUs" : strerror(-err));
	else
		err = write_merged(&merge, target, info, error);
	machine_list_free(&merge.machines);
	code_space_free(&merge.code);
	stack_set_free(&merge.stacks);
	free(merge.sources);
	free(merge.cpus);
	return err;
}

int recording_merge(struct trace_reader *const *readers, u32 count, const char *path,
		    const struct recording_merge_info *info, struct stackmap_error *error)
{
	struct target target = {.begin = begin_file_target, .end = end_file_target};

	return merge_to_target(&target, readers, count, path, info, error);
}

int recording_merge_in_memory(struct trace_reader *const *readers, u32 count, const char *name,
			      const struct recording_merge_info *info, struct trace_reader **out,
			      struct stackmap_error *error)
{
	struct target target = {.begin = begin_memory_target, .end = end_memory_target, .out = out};

	return merge_to_target(&target, readers, count, name, info, error);
}
