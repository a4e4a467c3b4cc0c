/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that the trace reader refuses to open: other formats, later versions, and damaged file
 * headers. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "data_folder.h"
#include "recording.h"
#include "ring.h"
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

TEST(file_cut_off_within_its_header)
{
	struct recording *recording = recording_create(&small);
	size_t bytes;
	u8 *data;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	for (size_t cut = 0; cut < sizeof(struct trace_file_header); cut++) {
		struct trace_reader *reader = NULL;
		struct stackmap_error error;

		file_write(damaged_path, data, cut);
		assert_int_equal(trace_reader_open(damaged_path, &reader, &error), -EBADMSG);
		assert_null(reader);
		assert_int_equal(error.offset, 0);
	}
	free(data);
	recording_free(&recording);
}

TEST(flipped_bits_in_the_file_header)
{
	struct recording *recording = recording_create(&small);
	size_t bytes;
	u8 *data;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	for (u32 bit = 0; bit < 8 * sizeof(struct trace_file_header); bit++) {
		struct trace_reader *reader = NULL;

		data[bit / 8] ^= (u8)(1 << bit % 8);
		file_write(damaged_path, data, bytes);
		data[bit / 8] ^= (u8)(1 << bit % 8);
		assert_int_equal(trace_reader_open(damaged_path, &reader, NULL), -EBADMSG);
	}
	free(data);
	recording_free(&recording);
}

static void write_header_of_version(u16 version, u8 byte_order)
{
	struct trace_file_header header = {
		.magic = TRACE_FILE_MAGIC, .byte_order = byte_order, .version = version};

	header.checksum =
		(u32)crc32(0, (const u8 *)&header, offsetof(struct trace_file_header, checksum));
	file_write(path, (const u8 *)&header, sizeof(header));
}

TEST(newer_version_is_refused_by_name)
{
	struct trace_reader *reader = NULL;
	struct stackmap_error error;

	write_header_of_version(TRACE_FILE_VERSION_ATTRIBUTES + 1, TRACE_FILE_LITTLE_ENDIAN);
	assert_int_equal(trace_reader_open(path, &reader, &error), -EPROTONOSUPPORT);
	assert_non_null(strstr(error.message, "version 11"));
	write_header_of_version(TRACE_FILE_VERSION, 2);
	assert_int_equal(trace_reader_open(path, &reader, &error), -EPROTONOSUPPORT);
	assert_null(reader);
}

/* Appends a block as the next one of the file. */
static void append_block(u8 *file, size_t *bytes, const u8 *block, size_t block_bytes, u32 number)
{
	struct trace_block_header header;
	const u8 *checked = (const u8 *)&header + offsetof(struct trace_block_header, type);
	size_t left = sizeof(header) - offsetof(struct trace_block_header, type);

	memcpy(&header, block, sizeof(header));
	header.sequence = number;
	header.checksum = (u32)crc32(crc32(0, checked, (uInt)left), block + sizeof(header),
				     (uInt)(block_bytes - sizeof(header)));
	memcpy(file + *bytes, &header, sizeof(header));
	memcpy(file + *bytes + sizeof(header), block + sizeof(header),
	       block_bytes - sizeof(header));
	*bytes += block_bytes;
}

/* Readers index the ledgers by the number of a source. */
TEST(sources_after_their_ledgers_are_refused)
{
	struct recording_shape shape = small;
	struct recording *recording;
	const struct trace_source_ledger *ledgers;
	const struct trace_source *sources;
	struct trace_reader *reader = NULL;
	size_t bytes, used = sizeof(struct trace_file_header), at = used, source_bytes = 0;
	u8 *data, *file;
	u32 number = 0, count, losses = 0;
	const u8 *source_block = NULL;

	shape.has_losses = true;
	recording = recording_create(&shape);
	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	file = calloc(2, bytes);
	assert_non_null(file);
	memcpy(file, data, used);
	while (at < bytes) {
		struct trace_block_header header;
		size_t block;

		memcpy(&header, data + at, sizeof(header));
		block = sizeof(header) + header.stored_bytes;
		append_block(file, &used, data + at, block, number++);
		if (header.type == TRACE_BLOCK_SOURCES) {
			source_block = data + at;
			source_bytes = block;
		} else if (header.type == TRACE_BLOCK_LOSSES) {
			losses++;
			assert_non_null(source_block);
			append_block(file, &used, source_block, source_bytes, number++);
		}
		at += block;
	}
	assert_int_equal(losses, 1);
	file_write(damaged_path, file, used);
	assert_int_equal(trace_reader_open(damaged_path, &reader, NULL), 0);
	count = trace_reader_source_ledgers(reader, &ledgers);
	assert_int_equal(count, shape.sources);
	assert_int_equal(trace_reader_sources(reader, &sources), shape.sources);
	trace_reader_close(&reader);
	free(file);
	free(data);
	recording_free(&recording);
}

/* The kind of an event, which is the number of its source, has room for no more. */
TEST(sources_beyond_the_most_are_refused)
{
	struct recording *recording = recording_create(&small);
	struct trace_reader *reader = NULL;
	const struct trace_source *sources;
	size_t bytes, used = sizeof(struct trace_file_header), at = used;
	struct trace_block_header header;
	u8 *data, *file;
	u32 number = 0;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	data = file_read(path, &bytes);
	file = calloc(KIND_SOURCES, bytes);
	assert_non_null(file);
	memcpy(file, data, used);
	for (; at < bytes; at += sizeof(header) + header.stored_bytes) {
		u32 turns = 1;

		memcpy(&header, data + at, sizeof(header));
		if (header.type == TRACE_BLOCK_SOURCES)
			turns = KIND_SOURCES / small.sources + 1;
		while (turns--)
			append_block(file, &used, data + at, sizeof(header) + header.stored_bytes,
				     number++);
	}
	file_write(damaged_path, file, used);
	assert_int_equal(trace_reader_open(damaged_path, &reader, NULL), 0);
	assert_int_equal(trace_reader_sources(reader, &sources), KIND_SOURCES);
	assert_non_null(trace_reader_damage(reader));
	trace_reader_close(&reader);
	free(file);
	free(data);
	recording_free(&recording);
}

TEST(files_of_other_formats_are_refused)
{
	static const u8 text[] = "not a recording, but long enough to be one";
	struct trace_reader *reader = NULL;
	struct stackmap_error error;

	file_write(path, text, sizeof(text));
	assert_int_equal(trace_reader_open(path, &reader, &error), -EBADMSG);
	assert_int_equal(error.offset, 0);
	assert_int_equal(trace_reader_open(directory, &reader, &error), -EISDIR);
	assert_int_equal(trace_reader_open("/dev/null", &reader, &error), -ESPIPE);
	assert_int_equal(trace_reader_open("/nonexistent/file", &reader, &error), -ENOENT);
	assert_null(reader);
}

TEST_GROUP(make_directory, remove_directory)
