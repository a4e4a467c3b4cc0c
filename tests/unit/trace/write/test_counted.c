/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events that are counted only come back behind all others, with their numbers and sums; each
 * source has its own ledger. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data_folder.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"
#include "trace_file.h"
#include "unit_test.h"

static struct trace_writer *begin(bool has_counted)
{
	const struct trace_info info = {.has_counted = has_counted,
					.has_times = 1,
					.cpus = 2,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_source source = {
		.name = "s", .extras = TRACE_EXTRA_VALUE, .value_unit = "bytes"};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	return writer;
}

static struct trace_event event_at(u64 time, u16 cpu, u64 value, u32 repeats, u8 is_counted)
{
	return (struct trace_event){.time = time,
				    .value = value,
				    .tid = 7,
				    .cpu = cpu,
				    .kernel = TRACE_NO_STACK,
				    .user = TRACE_NO_STACK,
				    .is_counted = is_counted,
				    .repeats = repeats};
}

static const struct trace_ledger whole = {.produced = 15, .recorded = 2, .counted = 13};

struct seen {
	struct trace_event events[8];
	u32 count;
};

static int keep_read_event(void *arg, const struct trace_event *event)
{
	struct seen *seen = arg;

	seen->events[seen->count++] = *event;
	return 0;
}

TEST(counted_events_come_back_with_number_and_sum, make_directory, remove_directory)
{
	const struct trace_event given[] = {event_at(9, 0, 1000, 9, 1), event_at(1, 0, 5, 0, 0),
					    event_at(9, 1, 30, 2, 1), event_at(2, 1, 6, 0, 0)};
	const struct thread_account account = {.end = 1};
	const struct trace_cpu_ledger cpu = {.cpu = 1, .produced = 4, .recorded = 1, .counted = 3};
	const struct trace_cpu_ledger *cpus;
	struct trace_writer *writer = begin(true);
	struct trace_reader *reader;
	struct seen seen = {};

	for (u32 i = 0; i < 4; i++)
		assert_int_equal(trace_writer_event(writer, &given[i]), 0);
	assert_int_equal(trace_writer_thread_account(writer, &account), 0);
	assert_int_equal(trace_writer_flush(writer), 0);
	assert_int_equal(trace_writer_recorded(writer), 2);
	assert_int_equal(trace_writer_counted(writer), 13);
	assert_int_equal(trace_writer_ledger(writer, &whole, &cpu, 1), 0);
	assert_int_equal(trace_writer_close(&writer), 0);

	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_true(trace_reader_info(reader)->has_counted && trace_reader_info(reader)->has_times);
	assert_int_equal(trace_reader_ledger(reader)->counted, 13);
	assert_int_equal(trace_reader_cpu_ledgers(reader, &cpus), 1);
	assert_int_equal(cpus[0].counted, 3);
	assert_int_equal(trace_reader_events(reader, keep_read_event, &seen, NULL), 0);
	assert_int_equal(seen.count, 4);
	assert_memory_equal(&seen.events[0], &given[1], sizeof(given[1]));
	assert_memory_equal(&seen.events[1], &given[3], sizeof(given[3]));
	assert_memory_equal(&seen.events[2], &given[0], sizeof(given[0]));
	assert_memory_equal(&seen.events[3], &given[2], sizeof(given[2]));
	trace_reader_close(&reader);
}

TEST(only_a_recording_that_says_it_has_counted_events, make_directory, remove_directory)
{
	const struct trace_event counted = event_at(1, 0, 1, 1, 1), many = event_at(1, 0, 1, 1, 0);
	struct trace_writer *writer = begin(false);

	assert_int_equal(trace_writer_event(writer, &counted), -EINVAL);
	trace_writer_discard(&writer);
	writer = begin(true);
	assert_int_equal(trace_writer_event(writer, &many), -EINVAL);
	trace_writer_discard(&writer);
}

/* Two sources: 3 events of the first one, 2 of the second one and 10 that are counted only. */
static void write_sources(struct trace_info info, const u64 *lost)
{
	const u64 sums[] = {5, 10};
	struct trace_writer *writer;

	info.cpus = 1;
	info.hostname = info.kernel = info.machine = info.command = info.version = "";
	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	for (u32 i = 0; i < 2; i++) {
		const struct trace_source source = {.name = i ? "b" : "a", .value_unit = ""};

		assert_int_equal(trace_writer_source(writer, &source), 0);
	}
	for (u32 i = 0; i < 6; i++) {
		struct trace_event event =
			event_at(i, 0, 0, i < sums[0] ? 0 : (u32)sums[1] - 1, i == sums[0]);

		event.kind = i >= 3;
		assert_int_equal(trace_writer_event(writer, &event), 0);
	}
	assert_int_equal(trace_writer_ledger(writer, &whole, NULL, 0), 0);
	assert_int_equal(trace_writer_losses(writer, lost), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

TEST(each_source_has_its_ledger, make_directory, remove_directory)
{
	static const struct trace_source_ledger expected[] = {{3, 0, 70}, {2, 10, 0}};
	const struct trace_source_ledger *ledgers;
	struct trace_reader *reader;

	write_sources((struct trace_info){.has_losses = 1}, (const u64[]){70, 0});
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_true(trace_reader_info(reader)->has_losses &&
		    trace_reader_info(reader)->has_counted);
	assert_false(trace_reader_info(reader)->has_further);
	assert_false(trace_reader_info(reader)->has_contexts);
	assert_int_equal(trace_reader_source_ledgers(reader, &ledgers), 2);
	assert_memory_equal(ledgers, expected, sizeof(expected));
	trace_reader_close(&reader);
}

/* Without has_losses the bytes are those of version 6. */
TEST(a_recording_that_says_nothing_has_no_ledgers_of_sources, make_directory, remove_directory)
{
	const struct trace_source_ledger *ledgers;
	struct trace_file_header header;
	struct trace_reader *reader;
	FILE *file;

	write_sources((struct trace_info){.has_counted = 1}, (const u64[]){70, 0});
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	fclose(file);
	assert_int_equal(header.version, TRACE_FILE_VERSION_COUNTED);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_int_equal(trace_reader_source_ledgers(reader, &ledgers), 0);
	trace_reader_close(&reader);
}

/* Aggregates are a version of their own, with ledgers of sources or without. */
TEST(a_recording_says_that_it_has_aggregates, make_directory, remove_directory)
{
	for (u32 has_losses = 0; has_losses < 2; has_losses++) {
		const struct trace_info *info;
		struct trace_reader *reader;

		write_sources((struct trace_info){.has_counted = 1,
						  .has_aggregates = 1,
						  .has_losses = has_losses},
			      (const u64[]){70, 0});
		assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
		assert_null(trace_reader_damage(reader));
		info = trace_reader_info(reader);
		assert_true(info->has_aggregates && info->has_counted);
		assert_int_equal(info->has_losses, has_losses);
		assert_false(info->has_further || info->has_contexts);
		trace_reader_close(&reader);
	}
	write_sources((struct trace_info){.has_counted = 1}, (const u64[]){70, 0});
	{
		struct trace_reader *reader;

		assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
		assert_false(trace_reader_info(reader)->has_aggregates);
		trace_reader_close(&reader);
	}
}
