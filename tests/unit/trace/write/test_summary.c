/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Summaries are recordings whose events have repeats. Their files have a version of their own, and
 * the bytes of ordinary recordings have not changed. Compressors differ, so the bytes are compared
 * before compression.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "data_folder.h"
#include "recording.h"
#include "trace/block/event_block.h"
#include "trace/read/reader.h"
#include "trace_file.h"
#include "unit_test.h"

#define EVENTS 500

/* Facts of a file: its version, the number of columns in its blocks of events, and a checksum of
 * all bytes that do not depend on the compressor. */
struct look {
	u32 version, columns;
	u32 ledger_bytes; /* before compression */
	u32 checksum;
};

static u8 raw[TRACE_BLOCK_RAW_MAX];

static void add_bytes(struct look *look, const void *bytes, size_t count)
{
	look->checksum = (u32)crc32(look->checksum, bytes, (uInt)count);
}

static size_t look_at_block(struct look *look, const u8 *at)
{
	struct trace_block_header header;
	size_t bytes;

	memcpy(&header, at, sizeof(header));
	bytes = sizeof(header) + header.stored_bytes;
	if (header.coding == TRACE_CODING_ZSTD)
		assert_int_equal(
			ZSTD_decompress(raw, sizeof(raw), at + sizeof(header), header.stored_bytes),
			header.raw_bytes);
	else
		memcpy(raw, at + sizeof(header), header.stored_bytes);
	if (header.type == TRACE_BLOCK_EVENTS)
		look->columns = header.columns;
	if (header.type == TRACE_BLOCK_LEDGER) { /* it had each counter of its time */
		look->ledger_bytes = header.raw_bytes;
		return bytes;
	}
	header.checksum = header.stored_bytes = header.coding = 0;
	add_bytes(look, &header, sizeof(header));
	add_bytes(look, raw, header.raw_bytes);
	return bytes;
}

static struct look look_at_file(void)
{
	size_t bytes, at = sizeof(struct trace_file_header);
	u8 *data = file_read(path, &bytes);
	struct look look = {.version = ((struct trace_file_header *)data)->version};

	add_bytes(&look, data, at);
	while (at < bytes)
		at += look_at_block(&look, data + at);
	assert_int_equal(at, bytes);
	free(data);
	return look;
}

/* Result of the last writer that had no summaries. */
#define CHECKSUM_OF_VERSION_3 0x5b823febU

static struct trace_writer *begin(bool is_summary)
{
	const struct trace_info info = {.start_realtime = 1700000000,
					.cpus = 2,
					.is_summary = is_summary,
					.hostname = "host",
					.command = "stackmap record"};
	const struct trace_source source = {
		.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF, .value_unit = ""};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	return writer;
}

static u32 put_stack(struct trace_writer *writer, u32 id)
{
	const u64 frames[] = {FRAME_USER(1, 64 * id), FRAME_USER(1, 16), FRAME_USER(1, 8)};
	const struct trace_stack stack = {
		.id = id, .flags = STACK_USER, .generation = 1, .depth = 3, .frames = frames};
	u32 index;

	assert_int_equal(trace_writer_stack(writer, &stack, &index), 0);
	return index;
}

static u32 put_names(struct trace_writer *writer)
{
	const struct trace_mapping mapping = {.number = 1, .kind = MAPPING_FILE, .path = "/bin/sh"};
	const struct trace_symbol symbol = {.mapping = 1, .start = 64, .size = 64, .name = "main"};
	const struct trace_cgroup cgroup = {.id = 7, .path = "/"};
	struct trace_task task = {.tid = 100, .tgid = 100, .comm = "sh"};
	u32 placeholder;

	assert_int_equal(trace_writer_mapping(writer, &mapping), 0);
	assert_int_equal(trace_writer_symbol(writer, &symbol), 0);
	assert_int_equal(trace_writer_cgroup(writer, &cgroup, &task.cgroup), 0);
	assert_int_equal(trace_writer_task(writer, &task), 0);
	assert_int_equal(trace_writer_placeholder(writer, &placeholder), 0);
	return placeholder;
}

/* Writes events of all kinds. */
static void write_ordinary(struct trace_writer *writer)
{
	const struct trace_ledger ledger = {.produced = EVENTS, .recorded = EVENTS};
	u32 placeholder = put_names(writer), index[4];
	struct trace_resolution resolution = {.leaf = FRAME_USER(1, 70)};

	for (u32 i = 0; i < 4; i++)
		index[i] = put_stack(writer, 1 + i);
	for (u32 i = 0; i < EVENTS; i++) {
		const struct trace_event event = {.time = 1000 + 37ULL * i * i,
						  .leaf = i % 3 ? FRAME_USER(1, 64 + i) : 0,
						  .value = i % 5 ? 100 * i : 0,
						  .tid = 100 + i % 7,
						  .cpu = i % 2,
						  .kernel = TRACE_NO_STACK,
						  .kernel_reason = i % 4,
						  .user = i % 11 ? index[i % 4] : placeholder};

		assert_int_equal(trace_writer_event(writer, &event), 0);
		if (i % 90 == 89)
			assert_int_equal(trace_writer_flush(writer), 0);
	}
	resolution.stack = index[2];
	assert_int_equal(trace_writer_resolve(writer, placeholder, &resolution), 0);
	assert_int_equal(trace_writer_ledger(writer, &ledger, NULL, 0), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

TEST(an_ordinary_recording_has_the_bytes_of_version_3, NULL, remove_files)
{
	struct look look;

	write_ordinary(begin(false));
	look = look_at_file();
	assert_int_equal(look.version, 3);
	assert_int_equal(look.columns, 10);
	assert_int_equal(look.checksum, CHECKSUM_OF_VERSION_3);
}

/* The lists of counters grow with each new cause, and a reader refuses a list that is longer than
 * its own. */
TEST(a_ledger_has_no_counters_behind_the_last_one_that_counted, NULL, remove_files)
{
	write_ordinary(begin(false));
	assert_in_range(look_at_file().ledger_bytes, 1, LOST_COUNT);
}

/* A summary whose events all have one repeat has version 4, too. */
TEST(a_summary_is_a_file_of_version_4, NULL, remove_files)
{
	struct look look;

	write_ordinary(begin(true));
	look = look_at_file();
	assert_int_equal(look.version, 4);
	assert_int_equal(look.columns, 12);
}

static const struct trace_event event = {
	.time = 1, .value = 7, .kernel = TRACE_NO_STACK, .user = TRACE_NO_STACK, .repeats = 2};

TEST(only_a_summary_takes_events_that_stand_for_many, NULL, remove_files)
{
	struct trace_writer *writer = begin(false);

	assert_int_equal(trace_writer_event(writer, &event), -EINVAL);
	trace_writer_discard(&writer);
	writer = begin(true);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

static void make_block_view_of_builder(const struct block_builder *builder, struct block_view *view)
{
	*view = (struct block_view){.header = {.type = builder->type,
					       .records = builder->records,
					       .columns = builder->columns,
					       .first_time = builder->first_time,
					       .last_time = builder->last_time}};
	for (u32 i = 0; i < builder->columns; i++) {
		const struct byte_buffer *column = &builder->column[i];

		view->column[i] =
			(struct byte_cursor){column->data, column->data + column->used, false};
	}
}

/* Encodes the event as a block, changes the block, and decodes it as one of a summary or not. */
static int decode(void (*change)(struct block_view *view), bool is_summary)
{
	const struct event_limits limits = {.columns = event_block_columns(is_summary),
					    .sources = 1,
					    .resolution = &(struct stack_resolution){}};
	const struct block_builder *builder;
	struct trace_event given = event, got = {};
	struct event_encoder *encoder;
	struct block_view view;
	int err;

	assert_int_equal(event_encoder_create(&encoder), 0);
	assert_int_equal(event_encoder_run(encoder, &given, 1, true, &builder), 0);
	make_block_view_of_builder(builder, &view);
	change(&view);
	err = event_block_decode(&view, &limits, &got);
	if (!err)
		assert_int_equal(got.repeats, given.repeats);
	event_encoder_free(&encoder);
	return err;
}

static void change_nothing(struct block_view *view)
{
	(void)view;
}

static struct byte_cursor column_of(const u8 *bytes, size_t count)
{
	return (struct byte_cursor){bytes, bytes + count, false};
}

static void repeat_too_often(struct block_view *view)
{
	static const u8 code[] = {NUMBER_WIDE}, bits[] = {0, 0, 0, 0, 1, 0, 0, 0};

	view->column[EVENT_COLUMN_REPEATS] = column_of(code, sizeof(code));
	view->column[EVENT_COLUMN_REPEATS_BITS] = column_of(bits, sizeof(bits));
}

static void put_one_more(struct block_view *view)
{
	static const u8 codes[] = {2, 2};

	view->column[EVENT_COLUMN_REPEATS] = column_of(codes, sizeof(codes));
}

static void leave_bits_over(struct block_view *view)
{
	static const u8 bits[] = {1};

	view->column[EVENT_COLUMN_REPEATS_BITS] = column_of(bits, sizeof(bits));
}

static void take_a_column(struct block_view *view)
{
	view->header.columns = EVENT_COLUMNS_SUMMARY - 1;
}

TEST(damaged_columns_are_refused)
{
	assert_int_equal(decode(change_nothing, true), 0);
	assert_int_equal(decode(change_nothing, false), -EBADMSG);
	assert_int_equal(decode(repeat_too_often, true), -EBADMSG);
	assert_int_equal(decode(put_one_more, true), -EBADMSG);
	assert_int_equal(decode(leave_bits_over, true), -EBADMSG);
	assert_int_equal(decode(take_a_column, true), -EBADMSG);
}

TEST_GROUP(make_directory, remove_directory)
