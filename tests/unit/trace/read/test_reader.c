/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace file as a whole: the reader returns what the writer was given, and a file that is cut
 * off or damaged at any place gives exactly the content before that place.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data_folder.h"
#include "recording.h"
#include "trace/read/reader.h"
#include "trace_file.h"
#include "unit_test.h"

static const struct recording_shape small = {
	.seed = 7,
	.cpus = 2,
	.sources = 4,
	.stacks = 12,
	.full_stacks = 3,
	.tasks = 6,
	.symbols = 9,
	.events = 120,
	.flush_every = 50,
};

static struct trace_reader *open_reader(const char *name)
{
	struct trace_reader *reader;
	struct stackmap_error error;
	int err = trace_reader_open(name, &reader, &error);

	if (err)
		fail_msg("%s", error.message);
	return reader;
}

static void check_info(const struct trace_info *got, const struct trace_info *wanted)
{
	assert_int_equal(got->start_realtime, wanted->start_realtime);
	assert_int_equal(got->start_monotonic, wanted->start_monotonic);
	assert_int_equal(got->frequency, wanted->frequency);
	assert_int_equal(got->cpus, wanted->cpus);
	assert_int_equal(got->bits, wanted->bits);
	assert_int_equal(got->address_shown, wanted->address_shown);
	assert_int_equal(got->is_summary, wanted->is_summary);
	assert_string_equal(got->hostname, wanted->hostname);
	assert_string_equal(got->kernel, wanted->kernel);
	assert_string_equal(got->machine, wanted->machine);
	assert_string_equal(got->command, wanted->command);
	assert_string_equal(got->version, wanted->version);
}

static void check_sources(const struct trace_reader *reader, const struct recording *recording)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	assert_int_equal(count, recording->shape.sources);
	for (u32 i = 0; i < count; i++) {
		assert_string_equal(sources[i].name, recording->sources[i].name);
		assert_string_equal(sources[i].value_unit, recording->sources[i].value_unit);
		assert_int_equal(sources[i].extras, recording->sources[i].extras);
	}
}

static void check_modules(const struct trace_reader *reader, const struct recording *recording)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);

	assert_int_equal(count, recording->module_count);
	for (u32 i = 0; i < count; i++) {
		const struct trace_module *wanted = &recording->modules[i];

		assert_string_equal(modules[i].name, wanted->name);
		assert_int_equal(modules[i].start, wanted->start);
		assert_int_equal(modules[i].end, wanted->end);
		assert_int_equal(modules[i].build_id_bytes, wanted->build_id_bytes);
		assert_memory_equal(modules[i].build_id, wanted->build_id, TRACE_BUILD_ID_MAX);
	}
}

static void check_mappings(const struct trace_reader *reader, const struct recording *recording)
{
	const struct trace_mapping *all;

	assert_int_equal(trace_reader_mappings(reader, &all), recording->mapping_count);
	for (u32 i = 0; i < recording->mapping_count; i++) {
		const struct trace_mapping *wanted = &recording->mappings[i];
		const struct trace_mapping *got = trace_reader_mapping(reader, wanted->number);

		assert_ptr_equal(got, &all[i]);
		assert_int_equal(got->kind, wanted->kind);
		assert_int_equal(got->tgid, wanted->tgid);
		assert_int_equal(got->base, wanted->base);
		assert_string_equal(got->path, wanted->path);
		assert_int_equal(got->build_id_bytes, wanted->build_id_bytes);
		assert_memory_equal(got->build_id, wanted->build_id, TRACE_BUILD_ID_MAX);
	}
	assert_null(trace_reader_mapping(reader, 4711));
}

static void check_stacks(const struct trace_reader *reader, const struct recording *recording)
{
	const struct trace_stack *stacks;
	u32 count = trace_reader_stacks(reader, &stacks);

	assert_int_equal(count, recording->shape.stacks);
	for (u32 i = 0; i < count; i++) {
		const struct trace_stack *wanted = &recording->stacks[i];

		assert_int_equal(stacks[i].id, wanted->id);
		assert_int_equal(stacks[i].flags, wanted->flags);
		assert_int_equal(stacks[i].generation, wanted->generation);
		assert_int_equal(stacks[i].depth, wanted->depth);
		assert_memory_equal(stacks[i].frames, wanted->frames, wanted->depth * sizeof(u64));
	}
}

static void check_cgroups(const struct trace_reader *reader, const struct recording *recording)
{
	const struct trace_cgroup *cgroups;
	u32 count = trace_reader_cgroups(reader, &cgroups), tasks = recording->shape.tasks;

	assert_int_equal(count, tasks > recording->cgroup_count ? recording->cgroup_count
								: (tasks ? tasks - 1 : 0));
	for (u32 i = 0; i < count; i++) {
		assert_int_equal(cgroups[i].id, recording->cgroups[i].id);
		assert_string_equal(cgroups[i].path, recording->cgroups[i].path);
	}
}

static void check_tasks(const struct trace_reader *reader, const struct recording *recording)
{
	for (u32 i = 0; i < recording->shape.tasks; i++) {
		const struct trace_task *wanted = &recording->tasks[i];
		const struct trace_task *got =
			trace_reader_task(reader, wanted->tid, wanted->time + 1);

		assert_non_null(got);
		assert_int_equal(got->tid, wanted->tid);
		assert_int_equal(got->tgid, wanted->tgid);
		assert_int_equal(got->time, wanted->time);
		assert_int_equal(got->cgroup, wanted->cgroup);
		assert_string_equal(got->comm, wanted->comm);
	}
	assert_null(trace_reader_task(reader, 99, 0));
}

static void check_symbols(const struct trace_reader *reader, const struct recording *recording)
{
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(reader, &symbols);

	assert_int_equal(count, recording->shape.symbols);
	for (u32 i = 0; i < count; i++) {
		assert_int_equal(symbols[i].mapping, recording->symbols[i].mapping);
		assert_int_equal(symbols[i].start, recording->symbols[i].start);
		assert_int_equal(symbols[i].size, recording->symbols[i].size);
		assert_int_equal(symbols[i].address, recording->symbols[i].address);
		assert_string_equal(symbols[i].name, recording->symbols[i].name);
	}
}

static void check_ledger(const struct trace_reader *reader, const struct recording *recording)
{
	const struct trace_cpu_ledger *cpus;

	assert_non_null(trace_reader_ledger(reader));
	assert_memory_equal(trace_reader_ledger(reader), &recording->ledger,
			    sizeof(recording->ledger));
	assert_int_equal(trace_reader_cpu_ledgers(reader, &cpus), recording->shape.cpus);
	assert_memory_equal(cpus, recording->cpu_ledgers,
			    recording->shape.cpus * sizeof(*recording->cpu_ledgers));
}

struct event_check {
	const struct recording *recording;
	u32 count;
};

static bool is_same_event(const struct trace_event *a, const struct trace_event *b)
{
	return a->time == b->time && a->leaf == b->leaf && a->value == b->value &&
	       a->tid == b->tid && a->kind == b->kind && a->cpu == b->cpu &&
	       a->kernel == b->kernel && a->user == b->user &&
	       a->kernel_reason == b->kernel_reason && a->user_reason == b->user_reason &&
	       a->repeats == b->repeats;
}

static int check_event(void *arg, const struct trace_event *event)
{
	struct event_check *check = arg;

	assert_true(check->count < check->recording->shape.events);
	if (!is_same_event(event, &check->recording->events[check->count]))
		fail_msg("event %u differs", check->count);
	check->count++;
	return 0;
}

static void check_events(struct trace_reader *reader, const struct recording *recording)
{
	struct event_check check = {.recording = recording};

	assert_int_equal(trace_reader_events(reader, check_event, &check, NULL), 0);
	assert_int_equal(check.count, recording->shape.events);
}

static void check_round_trip(const struct recording_shape *shape)
{
	struct recording *recording = recording_create(shape);
	struct trace_reader *reader;
	u64 recorded, lost;

	assert_int_equal(recording_write(recording, path, &recorded, &lost), 0);
	assert_int_equal(recorded, shape->events);
	assert_int_equal(lost, 0);
	reader = open_reader(path);
	assert_null(trace_reader_damage(reader));
	check_info(trace_reader_info(reader), &recording->info);
	check_sources(reader, recording);
	check_modules(reader, recording);
	check_mappings(reader, recording);
	check_stacks(reader, recording);
	check_cgroups(reader, recording);
	check_tasks(reader, recording);
	check_symbols(reader, recording);
	check_ledger(reader, recording);
	check_events(reader, recording);
	trace_reader_close(&reader);
	assert_null(reader);
	recording_free(&recording);
}

TEST(round_trip_of_random_recordings)
{
	for (u64 seed = 1; seed <= 30; seed++) {
		struct random random = {.state = seed};
		struct recording_shape shape = {
			.seed = seed,
			.cpus = 1 + (u32)random_below(&random, 9),
			.sources = 1 + (u32)random_below(&random, 6),
			.stacks = (u32)random_below(&random, 400),
			.tasks = (u32)random_below(&random, 40),
			.symbols = (u32)random_below(&random, 300),
			.events = (u32)random_below(&random, 5000),
			.flush_every = (u32)random_below(&random, 3) * 777,
		};

		shape.full_stacks = shape.stacks / 4;
		shape.placeholders = seed % 3 * 20;
		shape.is_summary = seed % 4 == 0;
		check_round_trip(&shape);
	}
}

TEST(empty_recording)
{
	struct recording_shape shape = {.seed = 1, .cpus = 1};

	check_round_trip(&shape);
}

/* More events than a block holds, and more stacks than one block of them. */
TEST(recording_of_many_blocks)
{
	struct recording_shape shape = {
		.seed = 3,
		.cpus = 3,
		.sources = 4,
		.stacks = 20000,
		.tasks = 10,
		.symbols = 40000,
		.events = 400000,
		.placeholders = 100,
	};

	check_round_trip(&shape);
}

/* Stores the offsets where the whole blocks of a file end. */
static u32 block_ends(const u8 *data, size_t bytes, u64 *ends, u32 most)
{
	u64 offset = sizeof(struct trace_file_header);
	u32 count = 0;

	while (offset < bytes && count < most) {
		struct trace_block_header header;

		memcpy(&header, data + offset, sizeof(header));
		offset += sizeof(header) + header.stored_bytes;
		ends[count++] = offset;
	}
	return count;
}

static u64 last_end_before(const u64 *ends, u32 count, u64 place)
{
	u64 last = sizeof(struct trace_file_header);

	for (u32 i = 0; i < count && ends[i] <= place; i++)
		last = ends[i];
	return last;
}

/* Checks that the event is one of the written events. */
static int find_event(void *arg, const struct trace_event *event)
{
	struct event_check *check = arg;
	const struct recording *recording = check->recording;

	for (u32 i = 0; i < recording->shape.events; i++)
		if (is_same_event(event, &recording->events[i])) {
			check->count++;
			return 0;
		}
	fail_msg("an event that nobody wrote");
	return -1;
}

static u32 events_before(const u8 *data, u64 place)
{
	u64 offset = sizeof(struct trace_file_header);
	u32 events = 0;

	while (offset < place) {
		struct trace_block_header header;

		memcpy(&header, data + offset, sizeof(header));
		if (header.type == TRACE_BLOCK_EVENTS)
			events += header.records;
		offset += sizeof(header) + header.stored_bytes;
	}
	return events;
}

static void check_prefix(const struct recording *recording, const u8 *data, u64 place)
{
	struct event_check check = {.recording = recording};
	struct trace_reader *reader = open_reader(damaged_path);
	const struct stackmap_error *damage = trace_reader_damage(reader);

	assert_non_null(damage);
	assert_int_equal(damage->offset, place);
	assert_non_null(strstr(damage->message, damaged_path));
	assert_int_equal(trace_reader_events(reader, find_event, &check, NULL), 0);
	assert_int_equal(check.count, events_before(data, place));
	trace_reader_close(&reader);
}

#define BLOCKS_MOST 64

TEST(file_cut_off_at_every_byte)
{
	struct recording *recording = recording_create(&small);
	u64 ends[BLOCKS_MOST];
	u32 blocks;
	size_t bytes;
	u8 *data;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	blocks = block_ends(data, bytes, ends, BLOCKS_MOST);
	file_write(damaged_path, data, bytes);
	for (size_t cut = bytes - 1; cut >= sizeof(struct trace_file_header); cut--) {
		assert_int_equal(truncate(damaged_path, (off_t)cut), 0);
		check_prefix(recording, data, last_end_before(ends, blocks, cut));
	}
	free(data);
	recording_free(&recording);
}

TEST(one_flipped_bit_in_every_byte)
{
	struct recording *recording = recording_create(&small);
	u64 ends[BLOCKS_MOST];
	u32 blocks;
	size_t bytes;
	u8 *data;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	blocks = block_ends(data, bytes, ends, BLOCKS_MOST);
	for (size_t at = sizeof(struct trace_file_header); at < bytes; at++) {
		u8 bit = (u8)(1 << at % 8);

		data[at] ^= bit;
		file_write(damaged_path, data, bytes);
		data[at] ^= bit;
		check_prefix(recording, data, last_end_before(ends, blocks, at));
	}
	free(data);
	recording_free(&recording);
}

/* Blocks swapped or repeated have right checksums; their sequence numbers give them away. */
TEST(missing_block_is_damage)
{
	struct recording *recording = recording_create(&small);
	u64 ends[BLOCKS_MOST];
	size_t bytes;
	u8 *data;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	assert_true(block_ends(data, bytes, ends, BLOCKS_MOST) > 4);
	memmove(data + ends[2], data + ends[3], bytes - ends[3]);
	file_write(damaged_path, data, bytes - (ends[3] - ends[2]));
	check_prefix(recording, data, ends[2]);
	free(data);
	recording_free(&recording);
}

TEST(bytes_after_the_end_are_damage)
{
	struct recording *recording = recording_create(&small);
	struct trace_reader *reader;
	size_t bytes;
	u8 *data;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	file_write(damaged_path, data, bytes);
	assert_int_equal(truncate(damaged_path, (off_t)bytes + 1), 0);
	reader = open_reader(damaged_path);
	assert_non_null(trace_reader_damage(reader));
	assert_int_equal(trace_reader_damage(reader)->offset, bytes);
	check_events(reader, recording);
	trace_reader_close(&reader);
	free(data);
	recording_free(&recording);
}

static int check_order(void *arg, const struct trace_event *event)
{
	u64 *next = arg;

	assert_int_equal(event->time, *next);
	assert_int_equal(event->tid, *next);
	++*next;
	return 0;
}

/* Neighbouring events of one CPU come in the wrong order, once also on both sides of a flush. */
TEST(events_that_interrupts_put_out_of_order)
{
	static const struct trace_info info = {.cpus = 1};
	static const u32 times[] = {2, 1, 3, 5, 4, 7, 6, 8};
	struct trace_source source = {.name = "cpu-clock"};
	struct trace_writer *writer;
	struct trace_reader *reader;
	u64 next = 1;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	for (u32 i = 0; i < 8; i++) {
		struct trace_event event = {.time = times[i],
					    .tid = times[i],
					    .kernel = TRACE_NO_STACK,
					    .user = TRACE_NO_STACK};

		assert_int_equal(trace_writer_event(writer, &event), 0);
		if (times[i] == 5)
			assert_int_equal(trace_writer_flush(writer), 0);
	}
	assert_int_equal(trace_writer_close(&writer), 0);
	reader = open_reader(path);
	assert_int_equal(trace_reader_events(reader, check_order, &next, NULL), 0);
	assert_int_equal(next, 9);
	trace_reader_close(&reader);
}

static int stop_at_third(void *arg, const struct trace_event *event)
{
	(void)event;
	return ++*(int *)arg == 3 ? 42 : 0;
}

TEST(events_stop_when_asked)
{
	struct recording *recording = recording_create(&small);
	struct trace_reader *reader;
	int count = 0;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	reader = open_reader(path);
	assert_int_equal(trace_reader_events(reader, stop_at_third, &count, NULL), 42);
	assert_int_equal(count, 3);
	trace_reader_close(&reader);
	recording_free(&recording);
}

TEST_GROUP(make_directory, remove_directory)
