/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of older versions, made by hand as older writers made them, and features of the newest
 * version. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "data_folder.h"
#include "trace/block/record_block.h"
#include "trace/read/names.h"
#include "trace/read/reader.h"
#include "unit_test.h"

static FILE *begin_file(u16 version)
{
	struct trace_file_header header = {.magic = TRACE_FILE_MAGIC,
					   .byte_order = TRACE_FILE_LITTLE_ENDIAN,
					   .version = version};
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	header.checksum =
		(u32)crc32(0, (const u8 *)&header, offsetof(struct trace_file_header, checksum));
	fwrite(&header, sizeof(header), 1, file);
	return file;
}

static void put_block(FILE *file, struct block_builder *builder, u32 sequence)
{
	struct block_sealer *sealer;
	const u8 *bytes;
	size_t count;

	assert_int_equal(block_sealer_create(&sealer), 0);
	assert_int_equal(block_seal(sealer, builder, sequence, &bytes, &count), 0);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	block_sealer_free(&sealer);
	block_builder_free(builder);
}

static void put_info(FILE *file)
{
	const struct trace_info info = {.cpus = 1,
					.hostname = "host",
					.kernel = "6.1.0",
					.machine = "x86_64",
					.command = "stackmap record true",
					.version = "0.1.0"};
	struct block_builder builder;

	record_builder_init(&builder, TRACE_BLOCK_INFO);
	record_put_info(&builder, &info);
	put_block(file, &builder, 0);
}

/* A task of version 1, which has no cgroup. */
static void put_task_of_version_1(struct block_builder *builder, u32 tid, const char *comm)
{
	byte_buffer_varint(&builder->column[RECORD_NUMBERS], 1000);
	byte_buffer_varint(&builder->column[RECORD_NUMBERS], tid);
	byte_buffer_signed(&builder->column[RECORD_NUMBERS], -1);
	byte_buffer_string(&builder->column[RECORD_TEXT], comm);
	builder->records++;
}

static void put_end(FILE *file, u32 sequence)
{
	struct block_builder builder;

	record_builder_init(&builder, TRACE_BLOCK_END);
	record_put_end(&builder, 0);
	put_block(file, &builder, sequence);
	assert_int_equal(fclose(file), 0);
}

static struct trace_reader *open_reader(void)
{
	struct trace_reader *reader;
	struct stackmap_error error;

	if (trace_reader_open(path, &reader, &error))
		fail_msg("%s", error.message);
	return reader;
}

TEST(tasks_of_version_1_are_in_no_known_cgroup)
{
	const struct trace_cgroup *cgroups;
	struct block_builder builder;
	struct trace_reader *reader;
	char room[TRACE_CGROUP_ROOM];
	FILE *file = begin_file(1);

	put_info(file);
	record_builder_init(&builder, TRACE_BLOCK_TASKS);
	put_task_of_version_1(&builder, 101, "first");
	put_task_of_version_1(&builder, 202, "second");
	put_block(file, &builder, 1);
	put_end(file, 2);
	reader = open_reader();
	assert_null(trace_reader_damage(reader));
	for (u32 tid = 101; tid <= 202; tid += 101) {
		const struct trace_task *task = trace_reader_task(reader, tid, 1000);

		assert_non_null(task);
		assert_int_equal(task->tgid, tid - 1);
		assert_int_equal(task->cgroup, 0);
		assert_string_equal(trace_cgroup_name(reader, task->cgroup, room), "[unknown]");
	}
	assert_string_equal(trace_reader_task(reader, 202, 1000)->comm, "second");
	assert_int_equal(trace_reader_cgroups(reader, &cgroups), 0);
	trace_reader_close(&reader);
}

/* A symbol of version 2, which has no address. */
static void put_symbol_of_version_2(struct block_builder *builder, s64 further, const char *name)
{
	byte_buffer_signed(&builder->column[RECORD_NUMBERS], further ? 0 : 1);
	byte_buffer_signed(&builder->column[RECORD_NUMBERS], further ?: 0x1000);
	byte_buffer_varint(&builder->column[RECORD_NUMBERS], 16);
	byte_buffer_string(&builder->column[RECORD_TEXT], name);
	builder->records++;
}

TEST(symbols_of_version_2_have_no_address)
{
	const struct trace_symbol *symbol;
	struct block_builder builder;
	struct trace_reader *reader;
	FILE *file = begin_file(2);

	put_info(file);
	record_builder_init(&builder, TRACE_BLOCK_SYMBOLS);
	put_symbol_of_version_2(&builder, 0, "first");
	put_symbol_of_version_2(&builder, 0x100, "second");
	put_block(file, &builder, 1);
	put_end(file, 2);
	reader = open_reader();
	assert_null(trace_reader_damage(reader));
	symbol = trace_reader_symbol(reader, FRAME_USER(1, 0x110F), false);
	assert_non_null(symbol);
	assert_string_equal(symbol->name, "second");
	assert_int_equal(symbol->address, 0);
	assert_string_equal(trace_reader_symbol(reader, FRAME_USER(1, 0x1000), false)->name,
			    "first");
	trace_reader_close(&reader);
}

static void write_task_in_cgroup(u32 cgroup)
{
	const struct trace_task task = {.tid = 7, .tgid = 7, .cgroup = cgroup, .comm = "task"};
	const struct trace_cgroup root = {.id = 1, .path = "/"};
	FILE *file = begin_file(TRACE_FILE_VERSION);
	struct block_builder builder;

	put_info(file);
	record_builder_init(&builder, TRACE_BLOCK_CGROUPS);
	record_put_cgroup(&builder, &root);
	put_block(file, &builder, 1);
	record_builder_init(&builder, TRACE_BLOCK_TASKS);
	record_put_task(&builder, &task);
	put_block(file, &builder, 2);
	put_end(file, 3);
}

TEST(a_task_names_a_cgroup_that_is_there)
{
	const struct trace_task *tasks;
	struct trace_reader *reader;

	write_task_in_cgroup(1);
	reader = open_reader();
	assert_null(trace_reader_damage(reader));
	assert_int_equal(trace_reader_task(reader, 7, 0)->cgroup, 1);
	trace_reader_close(&reader);
	write_task_in_cgroup(2);
	reader = open_reader();
	assert_non_null(trace_reader_damage(reader));
	assert_int_equal(trace_reader_tasks(reader, &tasks), 0);
	trace_reader_close(&reader);
}

TEST_GROUP(make_directory, remove_directory)
