/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Merges recordings of two machines with known content. Both have the same kernel and the same
 * program, at different load addresses and with different mapping numbers; each also has a module
 * and a file of which the other machine has a different build.
 */
#include "merge/recording_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "merge/machine_list.h"
#include "script.h"
#include "trace/read/names.h"
#include "trace/write/writer.h"
#include "trace_file.h"
#include "unit_test.h"

#define SECOND 1000000000ULL
#define KERNEL 0xffffffff81000000ULL
#define MODULE 0xffffffffc0000000ULL
#define BPF_CODE 0xffffffffb0000000ULL

struct host {
	const char *name;
	u64 booted, start; /* booted: s of real time; start: s of the machine's clock */
	u64 kaslr;
	u32 program, library; /* mapping numbers */
	u8 library_build;
	u64 value;
	bool unfinished;
	u32 repeats;	     /* repeats of each event; not 0: the recording is a summary */
	u32 counted;	     /* events that are counted only */
	const char *further; /* the name of the events' second value; NULL: one value */
	bool aggregates;     /* the counted events are aggregates */
	bool publishes;	     /* a process has published attributes; no event has a context */
};

static const struct host first = {"one", 1000, 50, 0, 1, 2, 0xa, 10, false, 0, 0, NULL, false};
static const struct host second = {"two", 990,	 70, 0x2000000, 7,    3,    0xb,
				   20,	  false, 0,  0,		NULL, false};

static char folder[] = "/tmp/stackmap-merge-XXXXXX";
static char path[2][64], merged[64];

static void write_code(struct trace_writer *writer, const struct host *host)
{
	struct trace_module modules[] = {
		{"vmlinux", KERNEL + host->kaslr, KERNEL + host->kaslr + 0x1000000, 2, {1, 2}},
		{"ext4", MODULE, MODULE + 0x1000, 1, {host->library_build}},
	};
	struct trace_mapping mappings[] = {
		{.number = host->program,
		 .kind = MAPPING_FILE,
		 .tgid = 100,
		 .build_id_bytes = 1,
		 .build_id = {0x11},
		 .path = "/bin/program"},
		{.number = host->library,
		 .kind = MAPPING_FILE,
		 .tgid = 100,
		 .build_id_bytes = 1,
		 .build_id = {host->library_build},
		 .path = "/lib/library.so"},
	};
	struct trace_symbol symbols[] = {
		{0, KERNEL + host->kaslr + 0x100, 0x100, "schedule"},
		{0, MODULE, 0x100, host == &second ? "ext4_new" : "ext4_old"},
		{host->program, 0, 0x100, "main"},
		{host->library, 0, 0x100, host == &second ? "library_new" : "library_old"},
	};

	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(trace_writer_module(writer, &modules[i]), 0);
		assert_int_equal(trace_writer_mapping(writer, &mappings[i]), 0);
	}
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(trace_writer_symbol(writer, &symbols[i]), 0);
}

static void write_events(struct trace_writer *writer, const struct host *host)
{
	u64 own[] = {MODULE + 0x10, BPF_CODE}, common[] = {KERNEL + host->kaslr + 0x110};
	u64 user[] = {FRAME_USER(host->program, 0x10)};
	struct trace_stack stacks[] = {
		{.id = 1, .generation = 1, .depth = 2, .frames = own},
		{.id = 2, .generation = 1, .depth = 1, .frames = common},
		{.id = 3, .generation = 1, .flags = STACK_USER, .depth = 1, .frames = user},
	};
	struct trace_event event = {
		.tid = 100, .cpu = 1, .value = host->value, .repeats = host->repeats};
	u32 index[3];

	for (u32 i = 0; i < 3; i++)
		assert_int_equal(trace_writer_stack(writer, &stacks[i], &index[i]), 0);
	event.time = (host->start + 1) * SECOND;
	event.kernel = index[0];
	event.user = index[2];
	assert_int_equal(trace_writer_event(writer, &event), 0);
	event.time += 60 * SECOND;
	event.kernel = index[1];
	event.leaf = FRAME_USER(host->library, 0x20);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	if (!host->counted)
		return;
	event.is_counted = 1;
	event.repeats = host->counted - 1;
	assert_int_equal(trace_writer_event(writer, &event), 0);
}

#define OLD "/old.slice"

/* Writes a cgroup that both machines have, one that is gone, and one without an id. */
static void write_cgroups(struct trace_writer *writer, const struct host *host, u32 number[2])
{
	const struct trace_cgroup named = {.id = 20 + host->library, .path = "/system.slice"};
	const struct trace_cgroup gone = {.id = 30, .path = ""};
	u32 old;

	assert_int_equal(trace_writer_cgroup(writer, host == &second ? &gone : &named, &number[0]),
			 0);
	assert_int_equal(trace_writer_cgroup(writer, host == &second ? &named : &gone, &number[1]),
			 0);
	assert_int_equal(trace_writer_cgroup(writer, &(struct trace_cgroup){.path = OLD}, &old), 0);
}

static void write_recording(const struct host *host, const char *file)
{
	struct trace_info info = {.start_realtime = (host->booted + host->start) * SECOND,
				  .start_monotonic = host->start * SECOND,
				  .cpus = 2,
				  .address_shown = 1,
				  .is_summary = host->repeats != 0,
				  .has_counted = 1, /* as `stackmap record` sets it */
				  .has_aggregates = host->aggregates,
				  .has_contexts = host->publishes,
				  .has_further = host->further != NULL,
				  .hostname = host->name,
				  .kernel = "6.1.0",
				  .machine = "x86_64",
				  .command = "",
				  .version = ""};
	struct trace_source source = {
		.name = "off-cpu", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"};
	const struct trace_source two_values = {.name = "off-cpu",
						.extras = TRACE_EXTRA_VALUE | TRACE_EXTRA_FURTHER,
						.value_unit = "ns",
						.further_unit = "bytes",
						.value_name = "delay",
						.further_name = host->further};
	struct trace_source other = {.name = host->name, .value_unit = ""};
	struct trace_task task = {.tid = 100, .tgid = 100};
	const struct trace_process process = {
		.tgid = 100, .since = SECOND, .bytes = 3, .message = (const u8 *)"abc"};
	struct trace_ledger ledger = {.produced = 3 + host->counted,
				      .recorded = 2,
				      .counted = host->counted,
				      .lost = {[LOST_RING_FULL] = 1}};
	struct trace_cpu_ledger cpu = {
		.cpu = 1, .produced = 3 + host->counted, .recorded = 2, .counted = host->counted};
	struct trace_writer *writer;
	u32 cgroups[2];

	snprintf(task.comm, sizeof(task.comm), "task-%s", host->name);
	assert_int_equal(trace_writer_create(file, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, host->further ? &two_values : &source), 0);
	assert_int_equal(trace_writer_source(writer, &other), 0);
	write_cgroups(writer, host, cgroups);
	task.cgroup = cgroups[0];
	assert_int_equal(trace_writer_task(writer, &task), 0);
	task.cgroup = cgroups[1];
	task.tid = task.tgid = 200; /* the name is known before the first event */
	assert_int_equal(trace_writer_task(writer, &task), 0);
	task.time = host->start * SECOND;
	task.cgroup = 0;
	snprintf(task.comm, sizeof(task.comm), "then-%s", host->name);
	assert_int_equal(trace_writer_task(writer, &task), 0);
	if (host->publishes)
		assert_int_equal(trace_writer_process(writer, &process), 0);
	write_code(writer, host);
	write_events(writer, host);
	if (!host->unfinished)
		assert_int_equal(trace_writer_ledger(writer, &ledger, &cpu, 1), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

static struct trace_reader *open_recording(const char *file)
{
	struct trace_reader *reader;

	assert_int_equal(trace_reader_open(file, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	return reader;
}

static struct trace_reader *merge(const struct host *a, const struct host *b)
{
	static const struct recording_merge_info info = {"merge", "1"};
	struct trace_reader *readers[2];
	struct stackmap_error error;

	write_recording(a, path[0]);
	write_recording(b, path[1]);
	for (u32 i = 0; i < 2; i++)
		readers[i] = open_recording(path[i]);
	assert_int_equal(recording_merge(readers, 2, merged, &info, &error), 0);
	for (u32 i = 0; i < 2; i++)
		trace_reader_close(&readers[i]);
	return open_recording(merged);
}

struct events {
	struct trace_event event[8];
	u32 count;
};

static int keep_event(void *arg, const struct trace_event *event)
{
	struct events *events = arg;

	events->event[events->count++] = *event;
	return 0;
}

static struct events events_of(struct trace_reader *reader)
{
	struct events events = {};

	assert_int_equal(trace_reader_events(reader, keep_event, &events, NULL), 0);
	return events;
}

static const char *name_of(const struct trace_reader *reader, u64 frame)
{
	const struct trace_symbol *symbol = trace_reader_symbol(reader, frame, false);

	return symbol ? symbol->name : "";
}

/* The clock of "two" started earlier: 10 s are added to the times of "one". */
TEST(real_time_orders)
{
	struct trace_reader *reader = merge(&first, &second);
	struct events events = events_of(reader);
	static const u64 seconds[] = {61, 71, 121, 131};
	static const u64 values[] = {10, 20, 10, 20};

	assert_int_equal(events.count, 4);
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(events.event[i].time, seconds[i] * SECOND);
		assert_int_equal(events.event[i].value, values[i]);
	}
	assert_int_equal(trace_reader_info(reader)->start_realtime, 1050 * SECOND);
	assert_int_equal(trace_reader_info(reader)->start_monotonic, 60 * SECOND);
	assert_string_equal(trace_reader_info(reader)->hostname, "one, two");
	trace_reader_close(&reader);
}

TEST(same_code_is_one_stack)
{
	struct trace_reader *reader = merge(&first, &second);
	struct events events = events_of(reader);
	const struct trace_stack *stacks;

	assert_int_equal(trace_reader_stacks(reader, &stacks), 4);
	assert_int_equal(events.event[0].user, events.event[1].user);
	assert_string_equal(name_of(reader, stacks[events.event[1].user].frames[0]), "main");
	assert_int_equal(events.event[2].kernel, events.event[3].kernel);
	assert_string_equal(name_of(reader, stacks[events.event[3].kernel].frames[0]), "schedule");
	trace_reader_close(&reader);
}

TEST(other_code_keeps_its_names)
{
	struct trace_reader *reader = merge(&first, &second);
	struct events events = events_of(reader);
	const struct trace_stack *stacks;
	const u64 *old, *new;

	trace_reader_stacks(reader, &stacks);
	old = stacks[events.event[0].kernel].frames;
	new = stacks[events.event[1].kernel].frames;
	assert_int_not_equal(events.event[0].kernel, events.event[1].kernel);
	assert_string_equal(name_of(reader, old[0]), "ext4_old");
	assert_string_equal(name_of(reader, new[0]), "ext4_new");
	assert_int_not_equal(old[1], new[1]);
	assert_true(FRAME_IS_KERNEL(new[1]));
	assert_string_equal(name_of(reader, events.event[2].leaf), "library_old");
	assert_string_equal(name_of(reader, events.event[3].leaf), "library_new");
	trace_reader_close(&reader);
}

TEST(tasks_and_cpus_of_machines)
{
	struct trace_reader *reader = merge(&first, &second);
	struct events events = events_of(reader);
	const struct trace_task *task;

	assert_int_equal(events.event[0].tid, 100);
	assert_int_equal(events.event[0].cpu, 1);
	assert_int_equal(events.event[1].tid, 100 + machine_first_tid(1));
	assert_int_equal(events.event[1].cpu, 3);
	for (u32 i = 0; i < 4; i++) {
		task = trace_reader_task(reader, events.event[i].tid, events.event[i].time);
		assert_string_equal(task->comm, i % 2 ? "task-two" : "task-one");
	}
	assert_int_equal(task->tgid, 100 + machine_first_tid(1));
	trace_reader_close(&reader);
}

static void check_cgroup(const struct trace_reader *reader, u32 tid, u64 time, const char *name)
{
	const struct trace_task *task = trace_reader_task(reader, tid, time);
	char room[TRACE_CGROUP_ROOM];

	assert_non_null(task);
	assert_string_equal(trace_cgroup_name(reader, task->cgroup, room), name);
}

static u32 count_without_id(const struct trace_reader *reader, const char *path)
{
	const struct trace_cgroup *cgroups;
	u32 count = trace_reader_cgroups(reader, &cgroups), found = 0;

	for (u32 i = 0; i < count; i++)
		found += !cgroups[i].id && !strcmp(cgroups[i].path, path);
	return found;
}

TEST(cgroups_of_machines)
{
	struct trace_reader *reader = merge(&first, &second);
	char gone[TRACE_CGROUP_ROOM];

	snprintf(gone, sizeof(gone), "[cgroup %llu]", 30 + (1ULL << 48));
	check_cgroup(reader, 100, 60 * SECOND, "/system.slice");
	check_cgroup(reader, 200, 60 * SECOND - 1, "[cgroup 30]");
	check_cgroup(reader, 200, 60 * SECOND, "[unknown]");
	check_cgroup(reader, machine_first_tid(1) + 100, 70 * SECOND, gone);
	check_cgroup(reader, machine_first_tid(1) + 200, 70 * SECOND - 1, "/system.slice");
	assert_int_equal(count_without_id(reader, OLD), 2);
	trace_reader_close(&reader);
}

TEST(sources_by_name)
{
	struct trace_reader *reader = merge(&first, &second);
	const struct trace_source *sources;

	assert_int_equal(trace_reader_sources(reader, &sources), 3);
	assert_string_equal(sources[0].name, "off-cpu");
	assert_string_equal(sources[0].value_unit, "ns");
	assert_string_equal(sources[2].name, "two");
	trace_reader_close(&reader);
}

TEST(values_of_other_names_are_of_other_sources)
{
	struct host requested = first, allocated = second;
	const struct trace_source *sources;
	struct trace_reader *reader;

	requested.further = allocated.further = "bytes_req";
	reader = merge(&requested, &allocated);
	assert_int_equal(trace_reader_sources(reader, &sources), 3);
	assert_string_equal(sources[0].further_name, "bytes_req");
	trace_reader_close(&reader);
	allocated.further = "bytes_alloc";
	reader = merge(&requested, &allocated);
	assert_int_equal(trace_reader_sources(reader, &sources), 4);
	assert_string_equal(sources[2].further_name, "bytes_alloc");
	trace_reader_close(&reader);
}

/* The version of a file with second values does not tell whether the file has contexts. */
TEST(published_attributes_are_kept_without_contexts_of_events)
{
	struct host publishing = second;
	const struct trace_process *processes;
	struct trace_reader *reader;

	publishing.publishes = true;
	publishing.further = "bytes_req";
	reader = merge(&first, &publishing);
	assert_true(trace_reader_info(reader)->has_contexts);
	assert_int_equal(trace_reader_processes(reader, &processes), 1);
	assert_int_equal(processes->tgid, 100 + machine_first_tid(1));
	assert_int_equal(processes->bytes, 3);
	assert_memory_equal(processes->message, "abc", 3);
	trace_reader_close(&reader);
}

TEST(ledgers_add_up)
{
	struct trace_reader *reader = merge(&first, &second);
	const struct trace_ledger *ledger = trace_reader_ledger(reader);
	const struct trace_cpu_ledger *cpus;

	assert_int_equal(ledger->produced, 6);
	assert_int_equal(ledger->recorded, 4);
	assert_int_equal(ledger->lost[LOST_RING_FULL], 2);
	assert_int_equal(trace_reader_cpu_ledgers(reader, &cpus), 2);
	assert_int_equal(cpus[0].cpu, 1);
	assert_int_equal(cpus[1].cpu, 3);
	assert_int_equal(cpus[1].produced, 3);
	trace_reader_close(&reader);
}

TEST(an_unfinished_recording_has_no_ledger)
{
	struct host unfinished = second;
	struct trace_reader *reader;

	unfinished.unfinished = true;
	reader = merge(&first, &unfinished);
	assert_null(trace_reader_ledger(reader));
	assert_int_equal(events_of(reader).count, 4);
	trace_reader_close(&reader);
}

/* Between the recordings the clock was set by a second, and a process id was reused. */
TEST(two_recordings_of_one_machine)
{
	struct host later = first;
	struct trace_reader *reader;
	struct events events;

	later.start += 1000;
	later.booted += 1;
	reader = merge(&first, &later);
	events = events_of(reader);
	assert_int_equal(trace_reader_info(reader)->cpus, 2);
	assert_int_equal(events.event[2].tid, 100);
	assert_int_equal(events.event[2].cpu, 1);
	assert_int_equal(events.event[0].kernel, events.event[2].kernel);
	assert_int_equal(events.event[0].user, events.event[2].user);
	assert_string_equal(trace_reader_info(reader)->hostname, "one");
	assert_string_equal(trace_reader_task(reader, 200, events.event[2].time)->comm, "then-one");
	assert_string_equal(trace_reader_task(reader, 200, 51 * SECOND)->comm, "then-one");
	assert_string_equal(trace_reader_task(reader, 200, 50 * SECOND - 1)->comm, "task-one");
	trace_reader_close(&reader);
	reader = merge(&later, &first);
	assert_string_equal(trace_reader_task(reader, 200, 50 * SECOND - 1)->comm, "task-one");
	assert_string_equal(trace_reader_task(reader, 200, 1052 * SECOND)->comm, "then-one");
	trace_reader_close(&reader);
	later.booted += 3600;
	reader = merge(&first, &later);
	assert_int_equal(events_of(reader).event[2].tid, 100 + machine_first_tid(1));
	trace_reader_close(&reader);
}

TEST(merging_a_summary_makes_a_summary)
{
	struct host summary = second;
	struct trace_reader *reader;
	struct events events;

	summary.repeats = 99;
	reader = merge(&first, &summary);
	events = events_of(reader);
	assert_true(trace_reader_info(reader)->is_summary);
	assert_int_equal(events.event[0].repeats, 0);
	assert_int_equal(events.event[1].repeats, 99);
	assert_int_equal(events.event[1].value, 20);
	trace_reader_close(&reader);
	reader = merge(&summary, &first);
	assert_true(trace_reader_info(reader)->is_summary);
	trace_reader_close(&reader);
	reader = merge(&first, &second);
	assert_false(trace_reader_info(reader)->is_summary);
	trace_reader_close(&reader);
}

/* Beside sums of any values, sums within a power of two could not be told. */
TEST(aggregates_stay_aggregates_beside_recorded_events)
{
	struct host aggregates = first, sums = second;
	struct trace_reader *reader;

	aggregates.counted = sums.counted = 7;
	aggregates.aggregates = true;
	reader = merge(&aggregates, &second);
	assert_true(trace_reader_info(reader)->has_aggregates);
	trace_reader_close(&reader);
	reader = merge(&aggregates, &sums);
	assert_false(trace_reader_info(reader)->has_aggregates);
	assert_true(trace_reader_info(reader)->has_counted);
	trace_reader_close(&reader);
	reader = merge(&first, &second);
	assert_false(trace_reader_info(reader)->has_aggregates);
	trace_reader_close(&reader);
}

/* A summary has no events that are counted only: they are recorded ones there. */
TEST(events_that_are_counted_only_are_recorded_in_a_summary)
{
	struct host counted = first, summary = second;
	const struct trace_cpu_ledger *cpus;
	const struct trace_ledger *ledger;
	struct trace_reader *reader;

	counted.counted = 7;
	summary.repeats = 99;
	reader = merge(&counted, &summary);
	ledger = trace_reader_ledger(reader);
	assert_int_equal(events_of(reader).count, 5);
	assert_int_equal(ledger->produced, 13);
	assert_int_equal(ledger->recorded, 11);
	assert_int_equal(ledger->counted, 0);
	assert_int_equal(ledger->lost[LOST_RING_FULL], 2);
	assert_int_equal(trace_reader_cpu_ledgers(reader, &cpus), 2);
	assert_int_equal(cpus[0].recorded, 9);
	trace_reader_close(&reader);
	reader = merge(&counted, &second);
	ledger = trace_reader_ledger(reader);
	assert_int_equal(ledger->recorded, 4);
	assert_int_equal(ledger->counted, 7);
	trace_reader_close(&reader);
}

static struct trace_reader *merge_in_memory(struct trace_reader *const *readers, u32 count)
{
	static const struct recording_merge_info info = {"merge", "1"};
	struct trace_reader *reader;
	struct stackmap_error error;

	assert_int_equal(recording_merge_in_memory(readers, count, "both", &info, &reader, &error),
			 0);
	assert_null(trace_reader_damage(reader));
	assert_string_equal(trace_reader_name(reader), "both");
	return reader;
}

/* Functions of scripts are numbered anew by each engine: one recording's `load` has the id of the
 * other one's `serve`. */
static void write_script(const char *file, const char *host, const char *const *functions)
{
	const struct trace_info info = {.start_realtime = SECOND,
					.start_monotonic = SECOND,
					.cpus = 1,
					.hostname = host,
					.kernel = "6.1.0",
					.machine = "x86_64",
					.command = "",
					.version = ""};
	const struct trace_source source = {.name = "cpu-clock", .value_unit = ""};
	const struct trace_mapping mapping = {.number = MAPPING_SCRIPT(SCRIPT_CPYTHON),
					      .kind = MAPPING_ANON,
					      .path = SCRIPT_NAME_CPYTHON};
	struct trace_event event = {.time = 2 * SECOND, .tid = 100, .kernel = TRACE_NO_STACK};
	u64 frames[] = {FRAME_SCRIPT(SCRIPT_CPYTHON, 1), FRAME_SCRIPT(SCRIPT_CPYTHON, 2)};
	const struct trace_stack stack = {
		.id = 1, .generation = 1, .flags = STACK_USER, .depth = 2, .frames = frames};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(file, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	assert_int_equal(trace_writer_mapping(writer, &mapping), 0);
	for (u32 i = 0; i < 2; i++) {
		const struct trace_symbol symbol = {.mapping = MAPPING_SCRIPT(SCRIPT_CPYTHON),
						    .start = SCRIPT_START(i + 1),
						    .size = SCRIPT_START(1),
						    .name = functions[i]};

		assert_int_equal(trace_writer_symbol(writer, &symbol), 0);
	}
	assert_int_equal(trace_writer_stack(writer, &stack, &event.user), 0);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

static void check_scripts(struct trace_reader *reader, const char *const *first_functions,
			  const char *const *second_functions)
{
	struct events events = events_of(reader);
	const char *const *functions[] = {first_functions, second_functions};
	const struct trace_stack *stacks;

	assert_int_equal(events.count, 2);
	assert_int_equal(trace_reader_stacks(reader, &stacks), 2);
	for (u32 i = 0; i < 2; i++) {
		u32 other = events.event[i].tid != 100;
		const struct trace_stack *stack = &stacks[events.event[i].user];

		for (u32 frame = 0; frame < 2; frame++)
			assert_string_equal(name_of(reader, stack->frames[frame]),
					    functions[other][frame]);
	}
	trace_reader_close(&reader);
}

TEST(functions_of_scripts_keep_their_names)
{
	static const struct recording_merge_info info = {"merge", "1"};
	static const char *const one[] = {"load (a.py:3)", "main (a.py:1)"};
	static const char *const two[] = {"serve (b.py:7)", "load (a.py:3)"};
	struct trace_reader *parts[2];
	struct stackmap_error error;

	write_script(path[0], "one", one);
	write_script(path[1], "two", two);
	for (u32 i = 0; i < 2; i++)
		parts[i] = open_recording(path[i]);
	check_scripts(merge_in_memory(parts, 2), one, two);
	assert_int_equal(recording_merge(parts, 2, merged, &info, &error), 0);
	for (u32 i = 0; i < 2; i++)
		trace_reader_close(&parts[i]);
	check_scripts(open_recording(merged), one, two);
}

static bool is_same_event(const struct trace_event *a, const struct trace_event *b)
{
	return a->time == b->time && a->leaf == b->leaf && a->value == b->value &&
	       a->tid == b->tid && a->kind == b->kind && a->cpu == b->cpu &&
	       a->kernel == b->kernel && a->user == b->user;
}

TEST(a_merge_in_memory_gives_the_same_recording)
{
	struct trace_reader *file = merge(&first, &second), *memory, *parts[2];
	struct events wanted = events_of(file), got;

	for (u32 i = 0; i < 2; i++)
		parts[i] = open_recording(path[i]);
	memory = merge_in_memory(parts, 2);
	for (u32 i = 0; i < 2; i++)
		trace_reader_close(&parts[i]);
	got = events_of(memory);
	assert_int_equal(got.count, wanted.count);
	for (u32 i = 0; i < got.count; i++)
		assert_true(is_same_event(&got.event[i], &wanted.event[i]));
	assert_memory_equal(trace_reader_ledger(memory), trace_reader_ledger(file),
			    sizeof(struct trace_ledger));
	assert_int_equal(trace_reader_info(memory)->cpus, trace_reader_info(file)->cpus);
	trace_reader_close(&memory);
	trace_reader_close(&file);
}

/* Damages the end time in the block's header, which a reader notices when it reads the events. */
static void damage_event_block_header(const char *file)
{
	struct trace_block_header header;
	long at = sizeof(struct trace_file_header);
	FILE *stream = fopen(file, "r+e");
	u8 payload[4096];
	size_t skipped = offsetof(struct trace_block_header, type);
	uLong checksum;

	assert_non_null(stream);
	for (;; at += (long)(sizeof(header) + header.stored_bytes)) {
		fseek(stream, at, SEEK_SET);
		assert_int_equal(fread(&header, sizeof(header), 1, stream), 1);
		if (header.type == TRACE_BLOCK_EVENTS)
			break;
	}
	assert_true(header.stored_bytes <= sizeof(payload));
	assert_int_equal(fread(payload, header.stored_bytes, 1, stream), 1);
	header.last_time++;
	checksum = crc32(0, (const u8 *)&header + skipped, (uInt)(sizeof(header) - skipped));
	header.checksum = (u32)crc32(checksum, payload, header.stored_bytes);
	fseek(stream, at, SEEK_SET);
	assert_int_equal(fwrite(&header, sizeof(header), 1, stream), 1);
	assert_int_equal(fclose(stream), 0);
}

TEST(damage_of_one_recording_spares_the_others)
{
	struct trace_reader *reader, *parts[2];

	write_recording(&first, path[0]);
	write_recording(&second, path[1]);
	damage_event_block_header(path[0]);
	for (u32 i = 0; i < 2; i++)
		parts[i] = open_recording(path[i]);
	reader = merge_in_memory(parts, 2);
	assert_int_equal(events_of(reader).count, 2);
	assert_null(trace_reader_ledger(reader));
	assert_non_null(trace_reader_damage(parts[0]));
	assert_non_null(strstr(trace_reader_damage(parts[0])->message, path[0]));
	assert_null(trace_reader_damage(parts[1]));
	for (u32 i = 0; i < 2; i++)
		trace_reader_close(&parts[i]);
	trace_reader_close(&reader);
}

TEST(output_that_cannot_be_written)
{
	struct trace_reader *reader = open_recording(path[0]);
	struct recording_merge_info info = {"merge", "1"};
	struct stackmap_error error;

	assert_int_equal(recording_merge(&reader, 1, "/nonexistent/f", &info, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/f"));
	trace_reader_close(&reader);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path[0], sizeof(path[0]), "%s/a", folder);
	snprintf(path[1], sizeof(path[1]), "%s/b", folder);
	snprintf(merged, sizeof(merged), "%s/merged", folder);
	return 0;
}

static int teardown(void **state)
{
	char old[160];

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		const char *file = i < 2 ? path[i] : merged;

		snprintf(old, sizeof(old), "%s.old", file);
		unlink(old);
		unlink(file);
	}
	return rmdir(folder);
}

TEST_GROUP(setup, teardown)
